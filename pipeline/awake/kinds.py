"""What sort of statement a sentence is, and whether its speaker is sure; by words, no model.

The words are those of the sentence as it was said, in the first person.
"""

import re

from pipeline.entries import Kind


def _any(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|(?:{chinese})", re.IGNORECASE)


_INSTRUCTION = _any(
    r"from now on|in (?:the )?future,? (?:please|always|never)|"
    r"(?:^|[.,;:!?] |please |and |you (?:should|must) )(?:always|never) (?:"
    r"answer|reply|use|call|give|"
    r"include|write|keep|show|start|end|remind|ask|respond|format|add|put|check|mention|suggest)|"
    r"(?:please )?(?:remember|note|keep in mind) that|call me|"
    r"(?:keep|make) (?:your|the) (?:answers?|repl(?:y|ies)|responses?)|"
    r"(?:please )?make sure (?:that |to |you)"
    r"|please (?:don['’]t|do not|stop|keep|use|avoid|answer|reply|respond|speak)|"
    r"(?:don['’]t|do not) (?:ever|use|call|mention|remind|answer|suggest|recommend|ask)",
    r"以后(?:都|请|别|不要|不用|你|回答|回复|每)|从现在(?:开始|起)|(?:请|要|给我|务必)记住|叫我(?!们)|"
    r"请(?:不要|别|始终|一直|务必|总是|统一|用)|不要再|别再|务必|必须|一律|每次都(?:要|请)",
)
_TASK = _any(
    r"(?:need|have|has|got|gotta|supposed) to|must(?! have| be|['’]ve)|"
    r"should (?:finish|submit|send|call|book|buy|pay)|"
    r"remind me (?:to|about|on|at|in|that|tomorrow|when)|deadline|due (?:on|by|in|date)|"
    r"to-?do|(?:hand|turn) (?:it )?in by|"
    r"don['’]t (?:let me )?forget",
    r"提醒|待办|截止|截稿|(?:需要|还得|得|必须|要)(?:在.{1,12}前)?(?:去|交|做|完成|提交|买|办|准备|"
    r"处理|联系|确认|修|补|发|整理|写|改)|记得|别忘|打算|计划",
)
_PREFERENCE = _any(
    r"prefer(?:red|s)?|favou?rites?|"
    r"(?:i|we)(?: \w+(?:ly|lly)| also| still| just| always| have)* "
    r"(?:love|enjoy|adore|hate|dislike|like)d?(?! to hear| that you)|can['’]t stand|"
    r"(?:big|huge) fan of|fond of|allergic|"
    r"not (?:a|much of a) fan|into (?=\w+ing)|would rather",
    r"喜欢|最爱|热爱|偏好|偏爱|讨厌|不爱|爱(?:吃|喝|看|听|玩|用|穿)|受不了|更想|宁愿|口味|过敏|忌口",
)
_OPINION = _any(
    r"i (?:\w+ly |really |also )?(?:think|believe|feel|find|guess|reckon|suppose)|in my (?:opinion|"
    r"view|experience)|imo|seems?|(?:it|that|this)(?:['’]s| is| was) (?:so |really |very |"
    r"such (?:an? )?|pretty |quite |super )?(?:great|awesome|amazing|important|hard|tough|fun|good|"
    r"bad|boring|wonderful|fantastic|beautiful|terrible|nice|inspiring|incredible|worth)",
    r"觉得|认为|感觉|看来|依我看|我看|应该说|相信|挺好|不错|太[^，。]{1,4}了|很(?:好|棒|差|难|有意思|无聊)",
)
_KIN = (
    "wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse|son|daughter|child|kids?|baby|"
    "mother|mom|mum|father|dad|parents?|brother|sister|siblings?|aunt|uncle|cousin|nephew|niece|"
    "grand(?:ma|pa|mother|father|son|daughter)|friend|best friend|boss|manager|colleague|coworker|"
    "roommate|neighbou?r|teacher|mentor|coach|dog|cat|puppy|kitten"
)
_RELATION = _any(
    rf"my (?:\w+ )?(?:{_KIN})(?:['’]s (?:name|called)|,? (?:is|was|are) "
    rf"(?:called|named|an?|my|the)\b|, [A-Z])|(?:is|was) my (?:\w+ )?(?:{_KIN})|"
    rf"(?:married|engaged to|dating|related to|"
    rf"broke up|have (?:an? |two |three |four )?(?:\w+ )?(?:{_KIN}))",
    r"我(?:的)?(?:妻子|老婆|太太|丈夫|老公|先生|爱人|对象|女朋友|男朋友|儿子|女儿|孩子|妈妈?|母亲|爸爸?|"
    r"父亲|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公|外婆|同事|朋友|老板|领导|上司|导师|室友|邻居|猫|狗)"
    r"(?:[们]?(?:叫|是|姓|名叫|在|今年)|的名字)|是我(?:的)?(?:同事|朋友|同学|老师|亲戚|邻居|表)",
)
_PAST = (
    "(?:i|we|he|she|they|my \\w+)"
    "(?: (?:just|also|recently|finally|already|have|even|\\w+ly)|['’]ve)* "
    "(?:went|got|had|made|took|saw|met|came|bought|lost|won|\\w+[^e]ed|found|left|quit|gave|ran|"
    "was (?:at|in)|sold|broke|fell|began|held|built)|"
    "(?:started|finished|moved|visited|attended|joined|launched|graduated|adopted)|yesterday|"
    "last (?:night|week|month|year|weekend)|ago|this (?:morning|week|weekend)|"
    "tomorrow|next (?:week|month|year|weekend)|today|tonight"
)
_EVENT = _any(
    _PAST,
    r"昨[天晚]|前[天晚]|今[天早晚]|明[天早晚]|后天|上(?:周|个?月|星期)|下(?:周|个?月|星期)|去年|明年|刚(?:刚|才)?|"
    r"(?:去|来|搬|买|见|参加|完成|开始|毕业|入职|离职|辞|升|换|收到|上线|发布|出)了|了(?=[，。！]|$)",
)
_UNSURE = _any(
    r"maybe|perhaps|possibly|probably|might|i think|i guess|i suppose|not (?:really |quite )?sure|"
    r"unsure|not certain|considering|thinking (?:about|of)|haven['’]t decided|could be|"
    r"i['’]m guessing|kind of think|undecided|if i remember",
    r"可能|好像|也许|大概|说不定|似乎|不确定|没想好|考虑(?!到)|或许|应该是|估计|貌似|不太确定|还没(?:决定|定)|没准",
)


def kind_of(sentence: str) -> Kind:
    """The kind of a sentence as it was said; a plain fact where no rule speaks."""
    rules = (
        (_INSTRUCTION, Kind.INSTRUCTION),
        (_RELATION, Kind.RELATION),
        (_PREFERENCE, Kind.PREFERENCE),
        (_TASK, Kind.TASK),
        (_OPINION, Kind.OPINION),
        (_EVENT, Kind.EVENT),
    )
    return next((kind for rule, kind in rules if rule.search(sentence)), Kind.FACT)


def is_unsure(sentence: str) -> bool:
    """Whether the speaker says that it may not be so."""
    return bool(_UNSURE.search(sentence))
