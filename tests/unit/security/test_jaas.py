from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.security.jaas import JaasError, parse, quoted

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True)


@given(
    options=st.dictionaries(NAMES, st.text(max_size=40), max_size=5),
    flag=st.sampled_from(["required", "OPTIONAL"]),
)
def test_what_was_quoted_is_read_again(options: dict[str, str], flag: str) -> None:
    written = " ".join(f"{name}={quoted(value)}" for name, value in options.items())
    module = parse(f"org.example.Some$LoginModule {flag}\n{written} ;")
    assert module.name == "org.example.Some$LoginModule"
    assert module.short_name == "Some$LoginModule"
    assert module.flag == flag.upper()
    assert module.options == options


@given(text=st.text(alphabet="ab=;\"'\\/* \n.", max_size=30))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    said = ""
    try:
        assert parse(f"Module required {text}").flag == "REQUIRED"
    except JaasError as error:
        said = str(error)
    assert said == "" or said.endswith(".")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ('"plain"', "plain"),
        ("'single \"quotes\"'", 'single "quotes"'),
        ("bare-word_1.$x", "bare-word_1.$x"),
        ("42", "42"),
        (r'"a\"b\\c"', r'a"b\c'),
        (r'"tab\tnew\nline"', "tab\tnew\nline"),
        (r'"\101\60\z"', "A0z"),
        ('"with; = // /* signs */"', "with; = // /* signs */"),
        ('""', ""),
    ],
)
def test_values_are_read_as_java_reads_them(value: str, meant: str) -> None:
    assert parse(f"Module required name={value};").options == {"name": meant}


def test_comments_and_blanks_do_not_count() -> None:
    text = '/* who */ a.Module // the class\n required\t\n user_alice = "x" // the end\n;  // nothing more'
    assert parse(text).options == {"user_alice": "x"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Login module not specified"),
        ("Module", "control flag not specified"),
        ("Module;", "control flag not specified"),
        ("Module maybe;", "Invalid login module control flag 'maybe'"),
        ("Module required", "not terminated by semi-colon"),
        ('Module required a="b"', "not terminated by semi-colon"),
        ("Module required a;", "Value not specified for key 'a'"),
        ("Module required a=;", "Value not specified for key 'a'"),
        ("Module required =b;", "without a key"),
        ("Module required; Module required;", "contains 2 login modules"),
        ('Module required a="b', "cannot be read from character 19"),
        ("= required;", "Login module not specified"),
    ],
)
def test_what_is_wrong_is_said_in_kafkas_words(text: str, said: str) -> None:
    with pytest.raises(JaasError, match=said):
        parse(text)


def test_a_secret_is_shown_neither_by_the_module_nor_by_an_error() -> None:
    assert "hush" not in repr(parse('Module required password="hush";'))
    with pytest.raises(JaasError) as caught:
        parse('Module required password="hush" "hush2')
    assert "hush" not in str(caught.value)
