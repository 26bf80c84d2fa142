"""The declarations of a C++ header of drx, as far as drx's own style needs them to be understood: what stands in which namespace, with its
docstring (`///` lines before it), its kind and name, and of deleted overloads the sentence that says what to write instead (`// drx: ...`)."""
import dataclasses, re

TOKEN = re.compile(r'(?P<doc>///[^\n]*)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)'
                   r'|(?P<literal>"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])\')|(?P<mark>[{}()\[\];=]|->|::|==|!=|<=|>=)'
                   r'|(?P<word>\w+)|(?P<line>\n)|(?P<space>[ \t]+)|(?P<other>.)', re.S | re.M)
TYPE = re.compile(r"\b(struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[.*?\]\]\s*)?(?P<name>\w+)")
FUNCTION = re.compile(r"(?P<name>operator\s*(?:\(\)|\[\]|\w+[\w:<>]*|[^\s\w(]+)|~?\b(?!decltype\b|sizeof\b)\w+)\s*\(")


@dataclasses.dataclass
class Declaration:
    scope: tuple      # ("drx", "detail") or, of a member, ("drx", "array")
    text: str         # the declaration without its body or initialiser, comments removed, spaces made one
    doc: list         # lines of its docstring, without slashes
    line: int
    deleted: bool = False
    fix: str = ""     # of a deleted overload: what its comment says to write instead
    value: str = ""   # what follows "=" up to the end
    behind: str = ""  # the comment behind it on its last line
    public: bool = True
    inside: str = ""  # of a class: what stands in its braces
    inside_line: int = 0
    kind: str = ""    # function, guide, variable, type, concept, alias, using, none
    name: str = ""

    def classify(self):
        plain = without_templates(self.text)
        if re.match(r"(friend|static_assert|using namespace|extern)\b", plain):
            self.kind = "none"
        elif found := re.match(r"using\s+([\w:]+)\s*$", plain):
            self.kind, self.name = ("alias" if self.value else "using"), found[1].split("::")[-1]
        elif found := re.match(r"concept\s+(\w+)", plain):
            self.kind, self.name = "concept", found[1]
        elif (found := TYPE.match(plain)) and "(" not in plain[found.end():].split(":")[0]:
            self.kind, self.name = "type", found["name"]
        elif re.match(r"\w+\(.*\) -> ", plain):
            self.kind, self.name = "guide", re.match(r"\w+", plain)[0]
        elif found := FUNCTION.search(plain):
            self.kind, self.name = "function", re.sub(r"\s+", " ", found["name"]) if "operator" in found["name"] else found["name"]
        elif found := re.search(r"(\w+)\s*(?:\[[^\]]*\])?(?:\s*<.*>)?\s*$", plain):
            self.kind, self.name = "variable", found[1]
        else:
            self.kind = "none"
        return self


def balanced(text, start, opening, closing):
    """The index behind what closes the bracket at start."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing and not (closing == ">" and text[i - 1] in "-="):
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def template_parts(text):
    """(the text in template<...> without brackets, or None; the constraint, or ""; the rest), attributes removed."""
    text = text.strip()
    parameters, constraint = None, ""
    if match := re.match(r"template\s*<", text):
        end = balanced(text, match.end() - 1, "<", ">")
        parameters, text = text[match.end():end - 1].strip(), text[end:].strip()
    if text.startswith("requires"):
        end = end_of_constraint(text)
        constraint, text = text[len("requires"):end].strip(), text[end:].strip()
    text = re.sub(r"^(?:\[\[[^\]]*\]\]\s*)+", "", text)
    return parameters, constraint, text


def end_of_constraint(text):
    """The end of `requires A<X> && (b) && !C<Y>` at the start of text: primaries joined by && and ||."""
    at = len("requires")
    while True:
        at = re.compile(r"[\s!]*").match(text, at).end()
        if text.startswith("requires", at):  # requires requires(...) { ... }
            at = re.compile(r"requires\s*").match(text, at).end()
            if text[at:at + 1] == "(":
                at = balanced(text, at, "(", ")")
            at = balanced(text, text.index("{", at), "{", "}")
        elif text[at:at + 1] == "(":
            at = balanced(text, at, "(", ")")
        else:
            at = re.compile(r"[\w:]*").match(text, at).end()
            while re.compile(r"\s*[<:]").match(text, at) and not re.compile(r"\s*<=").match(text, at):
                at = re.compile(r"\s*").match(text, at).end()
                at = balanced(text, at, "<", ">") if text[at] == "<" else re.compile(r"[:\w]+").match(text, at).end()
        more = re.compile(r"\s*(&&|\|\|)").match(text, at)
        if not more:
            return at
        at = more.end()


def without_templates(text):
    _, _, rest = template_parts(text)
    while re.match(r"template\s*<|requires\b", rest):
        _, _, rest = template_parts(rest)
    rest = re.sub(r"^(?:(?:static|inline|constexpr|consteval|explicit|virtual|mutable|const(?=\s+auto\b)|typedef|friend(?=\s+class))\s+)+", "", rest)
    return rest


def declarations(text, scope=(), members=False, line=1):
    """All declarations in text, of namespaces in it too; of `members`, text is what stands in a class."""
    stack = list(scope)
    depth_of_scope = []         # how many names each open namespace has put on the stack
    doc, piece, start = [], [], None
    brackets = 0                # ( and [ that are open
    public = True
    tokens = [(m.lastgroup, m[0]) for m in TOKEN.finditer(text)]
    lines = []
    for _, token in tokens:
        lines.append(line)
        line += token.count("\n")
    i, fresh = 0, True          # fresh: no code on this line yet
    previous_was_doc = False

    def done(value="", inside="", inside_line=0):
        nonlocal doc, piece, start
        body = re.sub(r"\s+", " ", "".join(piece)).strip()
        body = re.sub(r"^(?:DRX_[A-Z_]+(?:\([^()]*\))?\s+)+", "", body)
        made = None
        if body:
            made = Declaration(tuple(stack), body, doc, lines[start], value=re.sub(r"\s+", " ", value).strip(), public=public,
                               inside=inside, inside_line=inside_line)
            made.deleted = made.value == "delete"
            made.classify()
        doc, piece, start = [], [], None
        return made

    while i < len(tokens):
        kind, token = tokens[i]
        if kind == "doc":
            if not piece and not token.startswith("///<"):
                if not previous_was_doc:
                    doc = []
                doc.append(token[3:].removeprefix(" ").rstrip())
                previous_was_doc = True
            i += 1
            continue
        if kind in ("comment", "directive", "line", "space"):
            if kind == "line" and not piece and tokens[i - 1][0] == "line":
                doc = []  # an empty line: it was of nothing
            if kind in ("comment", "directive") and not (kind == "comment" and "clang-format" in token):
                previous_was_doc = False
            if piece:
                piece.append(" ")
            i += 1
            continue
        previous_was_doc = False
        if not piece:
            start = i
        if token in "([":
            brackets += 1
        elif token in ")]":
            brackets -= 1
        if token == "{" and brackets == 0:
            before = re.sub(r"\s+", " ", "".join(piece)).strip()
            if match := re.match(r"(?:inline )?namespace ?([\w:]*)$", before):
                names = [n for n in match[1].split("::") if n]
                stack += names
                depth_of_scope.append(len(names))
                doc, piece, start = [], [], None
                i += 1
                continue
            inner, inner_line, i_end = i + 1, lines[min(i + 1, len(lines) - 1)], i
            depth = 0
            while True:
                if tokens[i_end][1] == "{":
                    depth += 1
                elif tokens[i_end][1] == "}":
                    depth -= 1
                    if depth == 0:
                        break
                i_end += 1
            inside = "".join(t for _, t in tokens[inner:i_end])
            if re.search(r"\brequires( \(.*\))?$", before):  # a requires-expression: part of the declaration
                piece.append("{" + re.sub(r"//[^\n]*", "", inside) + "}")
                i = i_end + 1
                continue
            if not before and members is False and not doc:
                i = i_end + 1
                continue
            i = i_end + 1
            plain = without_templates(before)
            is_type = bool(TYPE.match(plain)) and "(" not in plain[TYPE.match(plain).end():].split(":")[0]
            if is_type:
                while i < len(tokens) and tokens[i][1] != ";":
                    i += 1
                i += 1
                made = done(inside=inside or " ", inside_line=inner_line)
            else:
                after = i
                while after < len(tokens) and tokens[after][0] in ("space", "line"):
                    after += 1
                is_variable = after < len(tokens) and tokens[after][1] == ";" and ")" not in re.sub(r"<.*>", "", before)[-8:]
                made = done(value="{" + inside + "}" if is_variable else "")
                if made and is_variable:
                    made.behind = comment_behind(tokens, after + 1)
            if made:
                yield made
            continue
        if token == "}" and brackets == 0:
            if depth_of_scope:
                for _ in range(depth_of_scope.pop()):
                    stack.pop()
            doc, piece, start = [], [], None
            i += 1
            continue
        if members and token == ":" and "".join(piece).strip() in ("public", "private", "protected"):
            public = "".join(piece).strip() == "public"
            doc, piece, start = [], [], None
            i += 1
            continue
        if token == ":" and brackets == 0 and members and re.search(r"\)\s*(?:noexcept\s*)?(?:requires.*)?$", "".join(piece)) \
                and not TYPE.match(without_templates("".join(piece))):
            # a constructor's initialisers: up to the body, whose brace follows ) or }
            while not (tokens[i][1] == "{" and re.search(r"[)}]\s*$", "".join(t for _, t in tokens[max(0, i - 3):i]))):
                if tokens[i][1] == "{":
                    depth = 0
                    while True:
                        depth += {"{": 1, "}": -1}.get(tokens[i][1], 0)
                        i += 1
                        if depth == 0:
                            break
                else:
                    i += 1
            continue
        if token == "=" and brackets == 0 and not re.search(r"operator ?[=!<>+\-*/%&|^]*$", "".join(piece)) and not in_angles(piece):
            value, depth = [], 0
            i += 1
            while depth or tokens[i][1] != ";":
                depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(tokens[i][1], 0)
                if tokens[i][0] not in ("comment", "doc"):
                    value.append(tokens[i][1])
                i += 1
            made = done(value="".join(value))
            i += 1
            if made:
                made.behind = comment_behind(tokens, i)
                if made.deleted and made.behind.startswith("drx:"):
                    made.fix = made.behind[len("drx:"):].strip()
                yield made
            continue
        if token == ";" and brackets == 0:
            made = done()
            i += 1
            if made:
                made.behind = comment_behind(tokens, i)
                yield made
            continue
        piece.append(token)
        i += 1


def in_angles(piece):
    """Whether what is open is the list of template parameters."""
    text = "".join(piece).strip()
    return text.startswith("template") and balanced(text, text.index("<"), "<", ">") == len(text) and text.count("<") > text.count(">") - \
        text.count("->") - text.count("=>") - text.count(">=")


def comment_behind(tokens, i):
    while i < len(tokens) and tokens[i][0] == "space":
        i += 1
    return tokens[i][1].lstrip("/< ").strip() if i < len(tokens) and tokens[i][0] in ("comment", "doc") else ""


def members(declaration):
    """The public members of a type."""
    struct = not re.match(r"class\b", without_templates(declaration.text))
    text = declaration.inside if struct else "private:" + declaration.inside
    yield from (d for d in declarations(text, (*declaration.scope, declaration.name), True, declaration.inside_line) if d.public)
