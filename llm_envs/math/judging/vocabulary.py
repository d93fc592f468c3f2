r"""The names that the readers know: LaTeX commands, functions, letters."""

_LAYOUT = (
    r"\left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \displaystyle \textstyle "
    r"\limits \nolimits \! \( \) \[ \] \rm \bf \it"
)
_SPACES = r"\, \; \: \quad \qquad \thinspace \enspace ~"
_FUNCTIONS = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan ln log exp gcd lcm min max det"
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi rho sigma tau phi varphi "
    "chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell"
)

LAYOUT = frozenset(_LAYOUT.split())  # goes without a trace
SPACES = frozenset([*_SPACES.split(), "\\ "])
FUNCTIONS = frozenset(_FUNCTIONS.split())
WORDS_TOO = frozenset({"max", "min", "sec"})  # functions, but in `\\text{...}` a word or a unit
GREEK = frozenset(rf"\{name}" for name in _GREEK.split())

SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<",
    r"\gt": ">", r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\div": "/", r"\lbrace": r"\{", r"\rbrace": r"\}",
    r"\lbrack": "[", r"\rbrack": "]", r"\lparen": "(", r"\rparen": ")", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\varnothing": r"\emptyset", r"\infin": r"\infty", r"\degree": r"^\circ", r"\degrees": r"^\circ",
    r"\percent": "%", r"\%": "%", r"\lor": r"\text{or}", r"\land": r"\text{and}", r"\colon": ":", r"\mid": "|",
    r"\dots": r"\ldots", r"\cdots": r"\ldots", "**": "^",
    r"\bar": r"\overline", r"\R": r"\mathbb{R}", r"\reals": r"\mathbb{R}", r"\cr": r"\\",
}  # fmt: skip

CHARACTERS = str.maketrans(
    {
        "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "⁄": "/", "∕": "/", "′": "'", "’": "'",
        "π": r"\pi ", "√": r"\sqrt ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
        "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "±": r"\pm ", "∓": r"\mp ", "ℝ": r"\mathbb{R}",
        "°": r"^\circ ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "λ": r"\lambda ",
        "…": r"\ldots ",
        "²": "^2 ", "³": "^3 ", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}",
        "⅔": r"\frac{2}{3}", "⟨": r"\langle ", "⟩": r"\rangle ", "€": r"\text{€}", "£": r"\text{£}",
        "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " ", "％": "%", "，": ",",
        "‐": "-", "‑": "-", "‒": "-", "—": "-", "－": "-", "＋": "+", "＝": "=", "／": "/", "（": "(", "）": ")",
        "：": ":", "；": ";", "、": ",", "．": ".", "。": ".",
    }
)  # fmt: skip
