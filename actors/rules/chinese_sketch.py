"""The second look at a Chinese sentence: owners, homes, things done, things given up."""

import re

from actors.rules.chinese import _content, _cut, _is_name, _tag
from actors.rules.chinese_patterns import ENDED
from actors.rules.chinese_words import PEOPLE, PREDICATE, STOP, SURNAMES, SYNONYMS
from actors.rules.english_words import words
from actors.rules.reading import Reading
from actors.rules.sketch import Sketch
from pipeline.sleep.slots import values

_HOME = re.compile(
    r"住在|住(?=[^院宿])|居住|定居|安家|安在|落户|落脚|搬[到去进往回来至]|搬了?过[去来]|家迁[到去往]|搬家|移居|"
    r"迁居|家(?:就|现在|目前|还)?在|新家|家是|(?:租|买|合租|借)了?(?:一?[套间个栋处]|在|的?房|"
    r"公寓)|租(?:房|住)|在.{1,8}(?:租|买)了|房子(?:在|租在|买在)"
)
_MOVED = re.compile(
    r"搬|家迁|新家|新(?:住处|房|租)|现在|如今|目前|已经|已(?!婚)|移居|迁居|定居|安家|安在|落户|"
    r"租了|不再住|离开"
)
_WAVERING = re.compile(
    r"打算|计划|准备|想|希望|考虑|可能|如果|要是|度假|暂时|临时|出差|酒店|办公室|公司|以前|曾|"
    r"周末住|投资|出租|租给|问"
)
_TASK = re.compile(
    r"需要|必须|还得|得(?=去|把|给|在|先)|(?<![不主重只想])要(?!求|是|么|紧|好)|应该|该(?=去|交|"
    r"还|办|把|给|换|续)|记得|别忘|待办|提醒|还没|尚未|没来得及|还未|等着|在等|快到期|要到期"
)
_SORTS = {
    "交": r"交(?!给|通|流|往|换)|缴|付|结清",
    "寄": r"寄|快递|邮|发(?:给|出|走)|顺丰",
    "办": r"办|领|拿到|取[到回]|续",
    "修": r"修|换(?:好|了|上)|维修|保养|清洗|疏通",
    "还": r"归还|(?:去|要|得|把.{1,8}|已经?|都)还(?!没|在|是)|还(?:了|给|清|掉|书|钱)",
    "买": r"买|订购|下单|到货|入手",
    "收": r"等|收到|到货|寄到|送到|到了|送达|签收",
    "取": r"取|领",
    "约": r"约|挂号",
    "写": r"写|提交|定稿|完稿|交(?:了|上|稿)",
    "检": r"年检|体检|检查|检测|验",
    "打": r"打(?:过|了|完)?|接种",
    "报": r"报名|报(?:上|了)|注册",
}
_SORT_RES = {sort: re.compile(pattern) for sort, pattern in _SORTS.items()}
_ALL_DONE = re.compile(
    r"(?:办|弄|做|修|处理|搞|补办|写|交|装|洗|寄|还|买|付|缴|打|考|看|退|换|签|收拾|整理|取|领)"
    r"(?:好|完|妥|清|掉|出|走|齐|上|回来?)了?(?!没)|搞定|完成了|已经?(?:完成|通过|办理|解决|到)|"
    r"到手|办妥|了结"
)
_DONE = re.compile(r"了(?!解)|已经|已(?!婚)|(?<![不难超通])过(?!敏|年|程|期|户|马)")
_NOT_DONE = re.compile(r"还没|没(?!收|有问)|尚未|未(?!来)|打算|准备|明天|下周|即将|将")
_OVER = (
    re.compile(r"把(?P<x>[^，；。]{1,8}?)(?:彻底|完全|都|也|给|全)*(?:戒|停|卖|断|送|退|扔|丢)"),
    re.compile(r"(?:不再|再也不|已经不|早就不)(?:[喝吃抽看玩打开骑去练学])(?P<x>[^，；。]{1,8})"),
    re.compile(r"(?:戒|停)(?:掉|了|除)(?P<x>[^，；。]{1,6})"),
)
_TAKEN = re.compile(r"把(?P<x>[^，。]{1,10}?)(?=[寄还交办送给修发退换拿取洗写签处续缴付])")
_RECIPIENT = re.compile(rf"给({'|'.join(sorted(PEOPLE))}|[一-鿿]{{2}})")
_FROM = re.compile(
    r"从(?P<x>[^，；。]+?)(?:家)?(?:换|改|挪|移|搬|调|转|变|提前|推迟)(?:到|至|成|为|去|在)"
)
_TO = re.compile(r"(?:换|改|挪|移|搬|调|转)(?:到|至|成|为|在)")
_ANIMAL = r"猫咪?|狗狗?|小狗|小猫|兔子|鹦鹉|仓鼠|乌龟|金毛|橘猫|英短|柯基"
_CALLED = (
    re.compile(r"(?:名字(?:叫|是)|名叫|取名(?:叫)?|起名(?:叫)?|叫(?:做|作)?)(?P<x>[一-鿿]{2,3}?)"
               r"(?=[，。；,;的]|$|[今去在已上下每很不和])"),
    re.compile(rf"(?:{_ANIMAL})(?P<x>[一-鿿]{{2}})(?=[，。的做去在今已上每很]|$)"),
)  # fmt: skip
_SECOND = re.compile(
    r"又(?!开始)|另|第二|再[养买领]|还(?:有|养|买)|也(?:养|有|买)|新(?:养|买|领)|两[只条个]"
)
_LIGHT = words(
    "学 学习 练 练习 上课 课 参加 报 报名 打 弹 拉 跑 玩 看 读 上 在 办 办婚礼 办理 举办 养 有 做 "
    "开 去 来 家 家里 养的 名字 受 受过 过 位 明年 春天 正在 常 要 养了 今年 装修 主要 一点 天 每"
)
_TOPICS = {
    word: general
    for general, members in {
        "婚": "婚礼 结婚 办婚礼 成婚 婚宴 喜酒 领证",
        "校": "小学 中学 初中 高中 年级 班主任 实验小学 二小 一小 附小 上学 学校 幼儿园",
        "伤": "伤 受伤 受过伤 伤口 骨折 旧伤 扭伤 拉伤",
        "搬": "搬家 搬 搬到 搬去",
        "猫": "猫 猫咪 橘猫 英短 布偶",
        "狗": "狗 狗狗 犬 小狗",
    }.items()
    for word in members.split()
}
_KEYED = (
    ("伤", re.compile(r"伤(?!心|感)")),
    ("校", re.compile(r"小学|[一二三四五六]年级|班主任|附小|[一二三]小")),
    ("婚", re.compile(r"婚礼|结婚|婚宴|喜酒")),
)


def sketch_chinese(reading: Reading, speaker: str) -> Sketch:
    """The sketch of a Chinese sentence already read, said by ``speaker``."""
    plain = reading.text.strip().replace(" ", "")
    paths = _paths(plain, speaker) | ({reading.main.person} - {""})
    owner = _owner(reading, plain, speaker)
    people = {*owner.split("/"), *reading.main.person.split("/")}
    is_task = _TASK.search(plain) is not None
    first = _first_claim(plain)
    return Sketch(
        owner=owner,
        paths=paths,
        people=paths,
        words=_topics(reading.words - people, plain) | reading.classes | reading.parts,
        core=_topics(_content(first) - people, first) - _LIGHT,
        head=_head(first, people),
        is_home=_HOME.search(plain) is not None,
        is_moved=_MOVED.search(plain) is not None,
        places=_places(plain, people),
        tasks=_sorts(plain) if is_task else frozenset(),
        acts=_acts(plain),
        over=_over(plain, people),
        left=_left(plain),
        called=_called(plain),
        recipients=frozenset(SYNONYMS.get(each, each) for each in _RECIPIENT.findall(plain)),
        is_light=_is_light(first),
        is_second=_SECOND.search(plain) is not None,
        is_wavering=_WAVERING.search(plain) is not None,
    )


def _paths(plain: str, speaker: str) -> frozenset[str]:
    """Everyone named in the text, each with the kin that follow the name."""
    found = set()
    cut = _cut(plain)
    place = 0
    while place < len(cut):
        who = cut[place]
        place += 1
        if not _is_someone(who):
            continue
        path = [speaker if who in ("用户", "我") else who]
        while place < len(cut) and (cut[place] in PEOPLE or cut[place : place + 1] == ("的",)):
            if cut[place] in PEOPLE:
                path.append(SYNONYMS.get(cut[place], cut[place]))
            place += 1
        found.add("/".join(path))
    return frozenset(found)


def _is_someone(word: str) -> bool:
    if word in ("用户", "我"):
        return True
    is_named = len(word) > 1 and (word[0] in SURNAMES or word.isascii())
    is_foreign = _tag(word) in ("nrt", "nrfg")
    return is_named and not is_foreign and word not in STOP and _is_name(word)


def _owner(reading: Reading, plain: str, speaker: str) -> str:
    """Of whom the sentence speaks: its subject, else the first person whom it names."""
    if len(reading.main.person) > 1:
        first, _, kin = reading.main.person.partition("/")
        who = first.removesuffix("家") if len(first) > 2 else first
        return f"{who}/{kin}" if kin else who
    who = next((word for word in _cut(plain)[:4] if _is_someone(word)), "")
    return speaker if who in ("用户", "我") else who


def _topics(found: frozenset[str], text: str) -> frozenset[str]:
    general = {_TOPICS[word] for word in found if word in _TOPICS}
    general |= {key for key, pattern in _KEYED if pattern.search(text)}
    return frozenset({word for word in found if word not in _TOPICS} | general)


def _first_claim(plain: str) -> str:
    first = re.sub(r"[上下]半年|[本这下上]个?[月周]|一[条只个辆位台件份]", "", plain)
    _, masked = values(re.split(r"[，；。]", first)[0], is_chinese=True)
    taken = _TAKEN.search(masked)
    return taken["x"] if taken else masked


def _head(first: str, people: set[str]) -> frozenset[str]:
    """The last content word of the first claim."""
    content = _content(first)
    for word in reversed(_cut(re.sub(r"[^\w]", " ", first))):
        root = SYNONYMS.get(word, word)
        if root in content and word not in people:
            return frozenset({root})
    return frozenset()


def _places(plain: str, people: set[str]) -> frozenset[str]:
    found = set()
    gone = set(re.findall(r"(?:离开|从)([一-鿿]{2})", plain))
    for match in re.finditer(
        r"(?:在|[搬迁][到去进往回来至]|移居|迁居|定居|落户|家是)(?:了)?(?P<x>[一-鿿]{2,6})", plain
    ):
        first = next((word for word in _cut(match["x"]) if word not in STOP), "")
        is_word = first in PREDICATE or first in PEOPLE or _tag(first).startswith("v")
        if len(first) >= 2 and first not in people and not is_word:
            found.add(first.rstrip("市区县"))
    return frozenset(found - gone)


def _sorts(text: str) -> frozenset[str]:
    return frozenset(sort for sort, pattern in _SORT_RES.items() if pattern.search(text))


def _acts(plain: str) -> frozenset[str]:
    """The sorts of act that the clauses about what happened say were done."""
    found: set[str] = set()
    for clause in re.split(r"[，；。]", plain):
        if _NOT_DONE.search(clause):
            continue
        if _ALL_DONE.search(clause):
            found |= _sorts(clause) | {"any"}
        elif _DONE.search(clause):
            found |= _sorts(clause)
    return frozenset(found)


def _over(plain: str, people: set[str]) -> tuple[frozenset[str], ...]:
    found = []
    for pattern in (*_OVER, *ENDED):
        for match in pattern.finditer(plain):
            found.append(_content(match["x"]) - people)
    return tuple(each for each in found if each)


def _left(plain: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _FROM.finditer(plain):
        slots, masked = values(match["x"], is_chinese=True)
        found |= {f"{key} {value}" for key, each in slots.items() for value in each}
        found |= _content(masked)
    return frozenset(found)


def _is_light(first: str) -> bool:
    """Whether the first claim only says that there is something, or names an occasion."""
    is_occasion = any(pattern.search(first) for _, pattern in _KEYED)
    return is_occasion or bool(set(_cut(first)) & _LIGHT)


def _called(plain: str) -> frozenset[str]:
    found = set()
    for pattern in _CALLED:
        for match in pattern.finditer(plain):
            name = match["x"]
            is_word = name in STOP or name in PREDICATE or name in PEOPLE
            if not is_word and not _tag(name).startswith(("v", "d", "m", "a", "t")):
                found.add(name)
    return frozenset(found)
