"""The page in a real browser: Chromium, driven by Playwright. Skipped where either is missing."""

import json
import re
import shutil
import threading
import xml.etree.ElementTree as ET

import pytest

import minnmt
from minnmt.model.directory import load_model
from minnmt.report.explorer.examples import LACKS, SHIFTS, instructive
from minnmt.report.explorer.page import explore_sentences, make_page
from minnmt.report.explorer.server import Server
from minnmt.report.explorer.variant import ListChoice, variant_of
from tests.conftest import run_cli
from tests.report.explorer.conftest import data_of

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]' for the tests of the page")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="apt-get install chromium for the tests of the page")

SENTENCE = "eins Haus rot Hund vier."
HOSTILE = """</script><script>window.hit=1</script><img src=x onerror="window.hit=1"> '"`${1}` &lt; <b>rot</b>"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
VIEWS = ("step", "attention", "tree", "cost", "counts", "sides")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def page_file(tiny_run, tmp_path_factory):
    """A page of two sentences, with the counts of the run and of one epoch beside each other."""
    variants = [variant_of(tiny_run, ListChoice(topn=1)), variant_of(tiny_run, ListChoice(topn=1, counts=("epoch2",)))]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(make_page(explore_sentences([SENTENCE, HOSTILE], variants)).html, encoding="utf-8")
    return path


@pytest.fixture
def tab(browser, page_file):
    """A tab on the page; at the end it must have asked for nothing and complained of nothing."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light", accept_downloads=True)
    page, requests, complaints = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(page_file.as_uri())
    yield page
    context.close()
    own = ("file:", "about:blank", "data:", "blob:")
    assert ([url for url in requests if not url.startswith(own)], complaints) == ([], [])


def show(tab, page_file, fragment):
    tab.goto("about:blank")
    tab.goto(f"{page_file.as_uri()}#{fragment}")


def slide(tab, name, value):
    """Move a slider."""
    tab.locator(f"#{name}").evaluate("(s, x) => { s.value = x; s.dispatchEvent(new Event('input')); }", value)


def facts(tab):
    return {name: tab.text_content(f"#{name}") for name in ("size", "kept", "same")}


def trace_of(page_file):
    return data_of(page_file.read_text(encoding="utf-8"))["sentences"][0]["traces"][0]


def test_stepping_to_the_end_by_keyboard(tab):
    n_words = tab.locator('#lines [data-path="list"]').count()
    seen = []
    for _ in range(4 + 8 * n_words):
        seen.append((tab.text_content(".where"), tab.text_content(".stage.open > button b")))
        tab.keyboard.press("ArrowRight")
    assert len(set(seen)) == len(seen) == 4 + 8 * n_words
    names = [name for _, name in seen[4:12]]
    assert [name.split(" ", 1)[1] for name in names] == [
        "embedding", "first cell", "attention", "context", "second cell", "readout", "softmax", "choice",
    ]  # fmt: skip
    assert tab.text_content(".where").startswith(f"word {n_words} of {n_words}: eos")
    assert tab.is_disabled('[data-key="stage-next"]')
    tab.keyboard.press("Shift+ArrowLeft")
    assert tab.text_content(".where").startswith(f"word {n_words - 1} of")
    tab.keyboard.press("Home")
    assert "the sentence" in tab.text_content(".where")


def test_every_stage_has_equation_shapes_prose_and_a_picture(tab):
    tab.keyboard.press("Shift+ArrowRight")
    numbers = ""
    for k in range(8):
        tab.click(f'[data-key="stage-{k}"]')
        inside = tab.locator(".stage.open .inside")
        assert inside.locator(".prose").text_content() and inside.locator(".formula").text_content()
        assert "shapes: " in inside.text_content()
        assert inside.locator("svg, table").count() > 0
        assert tab.locator(".inside").count() == 1  # the others are folded
        numbers += inside.locator(".formula").text_content()
    assert re.findall(r"\((\d+)\)", numbers) == [str(i) for i in (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 21, 17)]


def test_the_slider_changes_the_list_to_what_why_says(tab, tiny_run):
    seen = []
    for n in (1, 4, 6, 500):
        slide(tab, "n", n)
        size = re.search(r"list: ([\d,]+) of", facts(tab)["size"])[1]
        why = run_cli("candidates", "why", "-m", tiny_run, SENTENCE, "house", "--topn", n).out
        assert re.search(r"the list: ([\d,]+) of", why)[1] == size
        seen.append(facts(tab)["size"])
    assert len(set(seen)) >= 2
    tab.focus("#n")
    tab.keyboard.press("ArrowLeft")
    assert tab.text_content("#n-value") == "499"  # the arrow moved the slider, not the step


def test_translations_scores_and_what_is_kept_are_those_of_decode_and_audit(tab, page_file, tiny_run, tmp_path):
    lines = (tiny_run.parent / "test.src").read_text(encoding="utf-8").splitlines()
    variant = variant_of(tiny_run, ListChoice(topn=1))
    changed = next(line for line, note in instructive(lines, variant) if note in (LACKS, SHIFTS))
    other = tmp_path / "page.html"
    other.write_text(make_page(explore_sentences([changed], [variant])).html, encoding="utf-8")
    assert diverges_as_audit_says(tab, other, changed, tiny_run, 1)
    for n in (1, 2, 3):
        diverges_as_audit_says(tab, page_file, SENTENCE, tiny_run, n)


def diverges_as_audit_says(tab, page_file, sentence, tiny_run, n):
    """Compare the page with decode and audit -> does the list of n change the translation?"""
    show(tab, page_file, f"view=tree&n={n}&path=list")
    options = ["-m", tiny_run, "--topn", n]
    found = run_cli("decode", *options, "--engine", "plain", "--n-best", 2, stdin=sentence.encode()).out.splitlines()[0]
    _, translation, score = found.split(" ||| ")
    first = tab.locator("#ended tr").nth(1).locator("td").all_text_contents()
    assert first[0] == score and first[1].replace(" ▪", "") == translation
    text = page_file.with_name("text")
    text.write_text(sentence + "\n", encoding="utf-8")
    audit = json.loads(run_cli("audit", *options, "--engine", "float32", "-i", text, "--json").out)
    assert f"keeps {100 * audit['mass_output']['mean']:.2f} %" in facts(tab)["kept"]
    if audit["divergences"]:
        part = audit["divergences"][0]
        assert f"differs from word {part['first_step']} on" in facts(tab)["same"]
        if part["missing"]:
            needed = part["missing"]["needed_n"]
            assert f"from n = {needed}" in tab.text_content("#lost") if needed else "never" in tab.text_content("#lost")
    else:
        assert "the same translation" in facts(tab)["same"]
    return bool(audit["divergences"])


OPTIONS = [{}, {"by": "target"}, {"min_prob": 0.05}, {"by": "target", "min_prob": 0.1, "frequent": 2}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_clicking_a_word_tells_why_as_the_command_does(tab, tiny_run, tmp_path, options):
    path = tmp_path / "page.html"
    data = explore_sentences([SENTENCE], [variant_of(tiny_run, ListChoice(topn=1, **options))])
    path.write_text(make_page(data).html, encoding="utf-8")
    flags = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    tab.goto(f"{path.as_uri()}#step=1&stage=6")
    for k in range(4):
        spot = tab.locator('svg [data-key^="full-"]').nth(k)
        word = spot.get_attribute("aria-label").split(":")[0].replace("▪", "￭")
        spot.click()
        lines = run_cli("candidates", "why", "-m", tiny_run, SENTENCE, word, "--topn", 1, *flags).out.splitlines()[2:]
        assert lines[0].replace("￭", "▪") in tab.text_content("#why .verdict")
        rows = [row.locator("td").all_text_contents() for row in tab.locator("#why .links tr").all()[1:]]
        assert [row[1:] for row in rows] == [line.split()[:5] for line in lines[2:]]
        assert [row[0].replace("▪", "￭") for row in rows] == [" ".join(line.split()[5:]) for line in lines[2:]]
    tab.keyboard.press("Escape")
    assert tab.is_hidden("#why")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_unit_brings_what_the_ranking_lets_through(tab, tiny_run, tmp_path, options):
    variant = variant_of(tiny_run, ListChoice(topn=4, **options))
    path = tmp_path / "page.html"
    path.write_text(make_page(explore_sentences([SENTENCE], [variant])).html, encoding="utf-8")
    tab.goto(f"{path.as_uri()}#stage=3")
    src_ids = dict.fromkeys([*variant.model.src.ids(SENTENCE), 0])
    expected = [sum(not link.barred for link in variant.ranking.links(src_id)) for src_id in src_ids]
    found = [row.locator("td").nth(2).text_content() for row in tab.locator("#view table tr").all()[1:]]
    assert [int(text.split(",")[0]) for text in found] == expected
    prose = tab.text_content(".prose")
    assert ("--min-prob" in prose) == ("min_prob" in options) and ("frequent" in prose) == ("frequent" in options)
    for i, n in enumerate(expected[:3]):
        tab.click(f'#lines [data-source="{i}"]')
        assert re.search(rf"of which it brings (the first )?{n}\b", tab.text_content("#why-text"))


def test_a_source_word_shows_its_candidates_and_any_word_can_be_asked_for(tab):
    tab.click('#lines [data-source="1"]')
    assert "source unit 2" in tab.text_content("#why-text")
    tab.locator("#why .links [data-word]").first.click()
    assert "(id " in tab.text_content("#why .verdict")
    tab.fill('#why [aria-label="another target unit"]', "dog")
    tab.keyboard.press("Enter")
    assert tab.text_content("#why h2") == "dog"


def test_the_threshold_shows_what_would_be_counted(tab, page_file):
    show(tab, page_file, "view=attention&path=full&n=1")
    record, n_cells, node = trace_of(page_file), [], trace_of(page_file)["full"]["winner"]
    alphas = []
    while node:
        node = record["nodes"]["parents"][node - 1]
        alphas += record["steps"][str(node)]["alpha"]
    for threshold in (0.1, 0.3):
        slide(tab, "threshold", threshold)
        expected = sum(alpha > threshold for alpha in alphas)
        assert tab.text_content("#counted b") == f"{expected} of {len(alphas)} cells"
        assert tab.locator("#view circle").count() == expected
        n_cells.append(expected)
    assert n_cells[0] > n_cells[1] > 0
    tab.locator("#view circle").first.hover()
    assert tab.locator("#lines .lit").count() == tab.locator("#view .lit").count() == 2  # the cell's two words
    tab.locator('#lines [data-source="1"]').hover()
    partners = [t for t, alpha in enumerate(alphas[1 :: len(record["units"])]) if alpha > 0.3]
    assert tab.locator("#view .lit").count() == 1 + len(partners)
    assert "looks at" in tab.text_content("#cell")


def test_the_state_is_in_the_address(tab, page_file):
    tab.keyboard.press("Shift+ArrowRight")
    tab.click('[data-key="tab-tree"]')
    tab.click('[data-key="path-full"]')
    address = tab.evaluate("location.hash")
    for part in ("step=1", "view=tree", "path=full", "n=1", "sentence=0"):
        assert part in address
    show(tab, page_file, address[1:])
    assert tab.get_attribute('[data-key="tab-tree"]', "aria-selected") == "true"
    assert tab.get_attribute('[data-key="path-full"]', "aria-pressed") == "true"
    show(tab, page_file, "step=999&stage=x&n=-4&view=__proto__&word=5e9&sentence=77&path=&threshold=NaN&epoch=7")
    assert tab.locator(".stage.open").count() == 1  # nonsense is brought within what there is


def test_a_link_names_the_whole_state_and_the_skip_link_none_of_it(tab, page_file):
    show(tab, page_file, "view=tree&step=2&path=full")
    tab.focus("#skip")
    tab.keyboard.press("Enter")
    assert tab.get_attribute('[data-key="tab-tree"]', "aria-selected") == "true"
    assert tab.evaluate("document.activeElement.id") == "view"
    tab.evaluate("location.hash = 'view=attention'")
    playwright.expect(tab.locator('[data-key="tab-attention"]')).to_have_attribute("aria-selected", "true")
    address = tab.evaluate("location.hash")
    assert "step=0" in address and "path=list" in address


def test_the_focus_stays_where_one_works(tab):
    focused = "document.activeElement.dataset.key ?? document.activeElement.tagName"
    tab.focus('[data-key="tab-step"]')
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate(focused) == "tab-attention" and "view=attention&" in tab.evaluate("location.hash")
    tab.keyboard.press("Home")
    assert tab.evaluate(focused) == "tab-step"
    tab.focus('[data-key="line-full-1"]')
    tab.keyboard.press("Enter")
    assert tab.evaluate(focused) == "H2"
    tab.fill('#why [aria-label="another target unit"]', "do")
    tab.set_viewport_size({"width": 1280, "height": 700})
    assert tab.input_value('#why [aria-label="another target unit"]') == "do"
    tab.click("#why-close")
    assert tab.evaluate(focused) == "line-full-1"


def test_a_stage_without_a_picture_saves_none(tab, page_file):
    for stage, there in ((7, False), (6, True)):
        show(tab, page_file, f"step=1&stage={stage}")
        assert tab.locator("#save-svg").is_enabled() == there


def test_a_model_without_counts_keeps_the_n_of_its_neighbour(tab, tiny_run, tmp_path):
    variants = [variant_of(load_model(tiny_run)), variant_of(tiny_run, ListChoice(topn=3))]
    path = tmp_path / "page.html"
    path.write_text(make_page(explore_sentences([SENTENCE], variants)).html, encoding="utf-8")
    tab.goto(f"{path.as_uri()}#view=sides&step=2")
    assert "list, n = 3" in tab.text_content("#view") and "no counts" in tab.text_content("#no-lists")
    slide(tab, "n", 7)
    assert "list, n = 7" in tab.text_content("#view")
    tab.select_option("#variant", "1")
    assert tab.text_content("#n-value") == "7" and "step=2" in tab.evaluate("location.hash")


def test_saving_the_picture_and_the_data(tab, page_file):
    for view in VIEWS:
        show(tab, page_file, f"view={view}&step=2&stage=2&n=2")
        tab.click("#share summary")
        with tab.expect_download() as download:
            tab.click("#save-svg")
        picture = ET.parse(download.value.path()).getroot()
        assert picture.tag.endswith("svg") and len(list(picture.iter())) > 10
        assert "var(" not in ET.tostring(picture, encoding="unicode"), "the file does not know the page's colours"
    with tab.expect_download() as download:
        tab.click("#save-json")
    with open(download.value.path(), encoding="utf-8") as file:
        saved = json.load(file)
    assert saved["state"]["view"] == "sides" and saved["trace"]["source"] == SENTENCE


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(tab, page_file, width, scheme):
    tab.set_viewport_size({"width": width, "height": 800})
    tab.emulate_media(color_scheme=scheme)
    for view in VIEWS:
        for stage in range(8) if view == "step" else [0]:
            show(tab, page_file, f"view={view}&step=2&stage={stage}&word=3")
            wider = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wider <= 0, (view, stage)
            assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    tab.keyboard.press("Escape")
    tab.click("#theme")
    assert tab.evaluate("document.documentElement.dataset.theme") != scheme


def test_the_epochs_play(tab, page_file):
    show(tab, page_file, "view=counts&epoch=0")
    assert "after epoch 2" in tab.text_content("#view")
    tab.click('[data-key="play"]')
    playwright.expect(tab.locator("#view")).to_contain_text("after epoch 4")


def test_hostile_text_is_shown_as_text(tab):
    tab.select_option("#sentence", "1")
    assert tab.evaluate("window.hit") is None
    assert tab.locator("img, main b > b").count() == 0
    units = tab.locator("#lines [data-source]").all_text_contents()
    assert "script" in "".join(units) and tab.locator("script").count() == 2
    for view in VIEWS:
        tab.click(f'[data-key="tab-{view}"]')
    tab.click("#lines [data-source] >> nth=0")
    assert tab.evaluate("window.hit") is None


def test_it_works_in_the_frame_of_a_notebook(browser, tiny_run):
    page, complaints = browser.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(f"<body>{minnmt.explore(tiny_run, SENTENCE)._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    frame.locator('[data-key="word-next"]').click()
    frame.locator('[data-key="stage-6"]').click()
    playwright.expect(frame.locator(".where")).to_contain_text("word 1 of")
    frame.locator("#n").press("Home")
    playwright.expect(frame.locator("#n-value")).to_have_text("5")
    playwright.expect(frame.locator("#copy")).to_have_attribute("hidden", "")
    assert complaints == []
    page.close()


def test_the_server_takes_sentences_n_and_forced_words(browser, tiny_run):
    variants = [variant_of(tiny_run)]
    with Server(explore_sentences([SENTENCE], variants), variants, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page, complaints = browser.new_page(), []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(server.address)
            page.fill("#typed", "rot <i>Hund</i>.")
            page.keyboard.press("Enter")
            page.wait_for_selector("#sentence-pick:not([hidden])")
            assert "<" in page.text_content('#lines [data-source="1"]')
            assert page.input_value("#sentence") == "1"
            page.fill("#n-exact", "3")
            page.keyboard.press("Enter")
            playwright.expect(page.locator("#n-value")).to_have_text("3")
            page.fill("#n-exact", "600")
            page.keyboard.press("Enter")
            playwright.expect(page.locator("#size")).to_contain_text("11 of 11")
            page.locator(".where").click()
            page.keyboard.press("Shift+ArrowRight")
            page.click('[data-key="stage-6"]')
            third = page.locator('svg [data-key^="full-"]').nth(3)
            word = third.get_attribute("data-key").split("-")[1]
            third.click()
            page.click("#force")
            playwright.expect(page.locator("#lines [data-path=full]").first).to_have_attribute("data-word", word)
            assert "forced" in page.get_attribute('#lines [data-path="full"] >> nth=0', "class")
            address = page.evaluate("location.href")
            page.goto("about:blank")
            page.goto(address)  # a link brings back what was typed and forced
            playwright.expect(page.locator("#lines [data-path=full]").first).to_have_attribute("data-word", word)
            assert "<" in page.text_content('#lines [data-source="1"]') and page.text_content("#n-value") == "500"
            assert page.get_attribute("#n", "max") == "500"
            page.click("#take-back")
            playwright.expect(page.locator("#take-back")).to_have_count(0)
            playwright.expect(page.locator("#lines .forced")).to_have_count(0)
            page.fill("#typed", "  ")
            page.keyboard.press("Enter")
            playwright.expect(page.locator("#note")).to_contain_text("blank")
            assert complaints == []
            page.close()
        finally:
            server.shutdown()
            thread.join()
