"""The report in a real browser: sort, choose, hover, at the width of a laptop and of a phone."""

import shutil
import time

import pytest

from bench.synthetic_records import experiment
from kernelbraid.bench.report.page import write_report
from kernelbraid.bench.results.published import DATA

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver (apt: chromium, chromium-driver)"
)
WIDTHS = {"laptop": (1280, 800), "phone": (390, 844)}
SHOWN = ".panel:not([hidden])"
ACCURACY = f"{SHOWN} [aria-label='Acc in per cent']"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write_report(experiment(), tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture(scope="module")
def chromium():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(params=WIDTHS)
def browser(request, chromium, address):
    width, height = WIDTHS[request.param]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": request.param == "phone"}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.get(address)
    until(lambda: chromium.execute_script("return document.querySelectorAll('.js-plotly-plot').length >= 2"))
    yield chromium
    assert chromium.get_log("browser") == []


def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "the page did not get there in time"
        time.sleep(0.05)


def column(browser, place):
    script = (
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => r.cells[arguments[1]].innerText)"
    )
    return browser.execute_script(script, ACCURACY, place)


def unfold(browser):
    browser.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    until(lambda: browser.execute_script("return document.querySelectorAll('.js-plotly-plot').length >= 4"))


def find(browser, selector):
    return browser.find_element("css selector", selector)


def choose(browser, selector, value):
    from selenium.webdriver.support.ui import Select

    Select(find(browser, selector)).select_by_value(value)


def test_the_page_does_not_scroll_sideways(browser):
    for conditions in ("0", "1"):
        choose(browser, "#conditions", conditions)
        unfold(browser)
        wide, inner = browser.execute_script(
            "scrollTo(500, 0); return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= inner
        assert browser.execute_script("return scrollX") == 0


def test_tables_scroll_inside_their_own_box(browser):
    frame = find(browser, ACCURACY)
    assert browser.execute_script("return arguments[0].scrollWidth > arguments[0].clientWidth", frame)


def test_a_click_on_a_header_sorts_the_numbers_and_a_second_one_turns_them(browser):
    button = find(browser, f"{ACCURACY} thead th:nth-child(2) button")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    for order, sign in (("descending", -1), ("ascending", 1)):
        button.click()
        values = [float(text.split()[0]) for text in column(browser, 1)]
        assert values == sorted(values, key=lambda value: sign * value)
        assert find(browser, f"{ACCURACY} thead th:nth-child(2)").get_attribute("aria-sort") == order


def test_what_is_missing_is_sorted_behind(browser):
    heads = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' thead th')].map(h => h.innerText)", ACCURACY
    )
    place = heads.index("SCMK")
    button = find(browser, f"{ACCURACY} thead th:nth-child({place + 1}) button")
    for _ in range(2):
        browser.execute_script("arguments[0].click()", button)
        assert column(browser, place)[-1].startswith("skipped")


def test_a_header_is_pressed_by_key(browser):
    from selenium.webdriver.common.keys import Keys

    button = find(browser, f"{ACCURACY} thead th:nth-child(1) button")
    button.send_keys(Keys.ENTER)
    assert column(browser, 0) == sorted(column(browser, 0))


@pytest.mark.parametrize(
    ("plot", "target", "word"), [(".dots", ".points path", "YALE"), (".heat", ".nsewdrag", "gamma")]
)
def test_pointing_at_a_plot_tells_more(browser, plot, target, word):
    from selenium.webdriver import ActionChains

    unfold(browser)
    point = find(browser, f"{SHOWN} {plot} {target}")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    until(
        lambda: (
            word
            in browser.execute_script(
                "return document.querySelector('.panel:not([hidden]) ' + arguments[0] + ' .hoverlayer').textContent",
                plot,
            )
        )
    )


@pytest.mark.parametrize(
    ("plot", "target", "words"),
    [
        ("#curves", ".points path:nth-child(3)", ["step 3", "objective 7.5", "mu 1.21"]),
        ("#kernel", ".nsewdrag", ["sample 5", ", cluster 2", "mean 0.76"]),
    ],
)
def test_pointing_at_a_fit_tells_more(browser, plot, target, words):
    from selenium.webdriver import ActionChains

    unfold(browser)
    point = find(browser, f"{plot} {target}")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    script = f"return document.querySelector('{plot} .hoverlayer').textContent"
    until(lambda: all(word in browser.execute_script(script) for word in words))


def test_every_fit_can_be_looked_at(browser):
    unfold(browser)
    count = browser.execute_script("return document.querySelectorAll('#fit option').length")
    points = "return document.querySelectorAll('#curves .trace:first-child .points path').length"
    endings = []
    for place in range(count):
        choose(browser, "#fit", str(place))
        endings.append(find(browser, "#ending").text)
        n_iter = 3 if "vanished" in endings[-1] else 12
        until(lambda n_iter=n_iter: browser.execute_script(points) == n_iter)
        assert len(browser.find_elements("css selector", "#curves .legendtext")) == 4
        # Two lines across and two down between three clusters.
        assert browser.execute_script("return document.querySelectorAll('#kernel .shapelayer path').length") == 4
    assert count == 6
    assert sum("Kernel vanished after 3 steps" in text for text in endings) == 2
    assert sum("Converged after 12 steps" in text for text in endings) == 4


def test_another_choice_draws_another_picture(browser):
    choose(browser, f"{SHOWN} .view", "method:LKGr")
    labels = f"return [...document.querySelectorAll('{SHOWN} .dots .ytick text')].map(label => label.textContent)"
    until(lambda: set(browser.execute_script(labels)) == set(DATA))
    choose(browser, "#conditions", "1")
    unfold(browser)
    until(lambda: browser.execute_script(f"return document.querySelectorAll('{SHOWN} .heat .hm').length >= 1"))
    assert [panel.is_displayed() for panel in browser.find_elements("css selector", ".panel")] == [False, True, False]


def test_the_page_is_folded_and_a_link_opens_its_section(browser):
    height = browser.execute_script("return document.documentElement.scrollHeight")
    fits = "return document.querySelector('#fits > details').open"
    assert not browser.execute_script(fits)
    find(browser, "nav a[href='#fits']").click()
    until(lambda: browser.execute_script(fits))
    until(lambda: browser.execute_script("return document.querySelectorAll('#curves .trace').length > 0"))
    unfold(browser)
    assert browser.execute_script("return document.documentElement.scrollHeight") > 2 * height
    find(browser, "nav [data-set=fold]").click()
    until(lambda: browser.execute_script("return document.querySelectorAll('details.part[open]').length === 0"))


def test_data_and_methods_are_left_out_of_tables_and_pictures(browser):
    def seen(selector):
        found = "[...document.querySelectorAll(arguments[0])].filter(one => one.offsetWidth)"
        return browser.execute_script(f"return {found}.map(one => one.innerText)", f"{ACCURACY} {selector}")

    def leave(kind, value):
        box = f"#filters [data-kind={kind}] input[value={value}]"
        browser.execute_script("document.querySelector(arguments[0]).click()", box)

    leave("data", "YALE")
    leave("method", "KKM")
    assert seen("tbody th") == [title for title in DATA if title != "YALE"]
    assert seen("thead th")[:2] == ["Data", "SC"]
    labels = f"return [...document.querySelectorAll('{SHOWN} .dots .ytick text')].map(label => label.textContent)"
    until(lambda: "KKM" not in browser.execute_script(labels))
    counts = "return [...document.querySelectorAll('#filters .count')].map(count => count.innerText)"
    assert browser.execute_script(counts) == ["10 of 11", "14 of 15"]
    browser.execute_script("document.querySelector('#filters [data-kind=method] [data-set=all]').click()")
    assert seen("thead th")[:2] == ["Data", "KKM"]


def test_pictures_follow_the_width_of_the_window(browser):
    unfold(browser)
    inside = (
        "return [...document.querySelectorAll('.js-plotly-plot')].filter(box => box.offsetWidth).map(box => {"
        " const plot = box.querySelector('.main-svg').getBoundingClientRect();"
        " return plot.height > 100 && Math.abs(plot.width - box.clientWidth) < 20; })"
    )
    for width in (700, 500):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        until(lambda: all(browser.execute_script(inside)))
