# Renders the templates of the file `templates` with Jinja2, and prints a line of JSON for each: the text, or null.
import base64, copy, itertools, json, os, re, shlex, sys
import jinja2

assert jinja2.__version__ >= "3.1"


def printed(value):
    """Values as ccm prints them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) or isinstance(value, (list, tuple)):
        return json.dumps(whole(value), separators=(",", ":"), ensure_ascii=False)
    if isinstance(value, float) and value == 0:
        return "0.0" if str(value) == "0.0" else "-0.0"
    return value


def whole(value):
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [whole(element) for element in value]
    if isinstance(value, dict):
        return {key: whole(element) for key, element in value.items()}
    return value


def boolean(value):
    if isinstance(value, str):
        return {"yes": True, "true": True, "on": True, "1": True}.get(value.lower(), False)
    return bool(value)


def flatten(value, levels=None):
    flat = []
    for element in value:
        if isinstance(element, list) and (levels is None or levels > 0):
            flat += flatten(element, None if levels is None else levels - 1)
        elif element is not None:
            flat.append(element)
    return flat


def distinct(values):
    seen = []
    for value in values:
        if value not in seen:
            seen.append(value)
    return seen


def text_of(value):
    assert not isinstance(value, bool)
    return str(value) if isinstance(value, (int, float)) else value


def search(text, pattern, *groups):
    match = re.search(pattern, text_of(text))
    return match and ([match.group(int(group[1:])) for group in groups] or match.group())


@jinja2.pass_environment
def unique(environment, values):
    values = list(values)
    try:
        return list(jinja2.filters.do_unique(environment, values))
    except TypeError:
        return distinct(values)


FILTERS = {
    "unique": unique,
    "bool": boolean,
    "ternary": lambda value, yes, no: yes if value else no,
    "split": lambda text, *arguments: text.split(*arguments),
    "b64encode": lambda text: base64.b64encode(text.encode()).decode(),
    "b64decode": lambda text: base64.b64decode(text, validate=True).decode(),
    "basename": os.path.basename,
    "dirname": os.path.dirname,
    "quote": lambda value: shlex.quote(text_of(value)),
    "union": lambda one, two: distinct(one + two),
    "difference": lambda one, two: distinct(element for element in one if element not in two),
    "intersect": lambda one, two: distinct(element for element in one if element in two),
    "symmetric_difference": lambda one, two: distinct(
        [element for element in one if element not in two] + [element for element in two if element not in one]
    ),
    "flatten": flatten,
    "combine": lambda one, two: {**one, **two},
    "dict2items": lambda value: [{"key": key, "value": element} for key, element in value.items()],
    "product": lambda one, two: list(itertools.product(one, two)),
    "zip": lambda one, two: list(zip(one, two)),
    "from_json": json.loads,
    "regex_replace": lambda text, pattern, replacement: re.sub(pattern, replacement, text_of(text)),
    "regex_search": search,
    "regex_findall": lambda text, pattern: re.findall(pattern, text_of(text)),
}


def rendered(text, data):
    settings = {}
    if text.startswith("#jinja2:"):
        line, text = text.split("\n", 1)
        for setting in line[len("#jinja2:"):].split(","):
            name, value = setting.split(":")
            settings[name.strip()] = value.strip() == "true"
    environment = jinja2.Environment(
        keep_trailing_newline=True, undefined=jinja2.StrictUndefined, finalize=printed, **settings
    )
    environment.filters.update(FILTERS)
    return environment.from_string(text).render(data=copy.deepcopy(data))


data = json.load(open("data"))
for text in json.load(open("templates")):
    try:
        result = rendered(text, data)
    except RecursionError:
        raise
    except Exception:
        result = None
    print(json.dumps(result))
