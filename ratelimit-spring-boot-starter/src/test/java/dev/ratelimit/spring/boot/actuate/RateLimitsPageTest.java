package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.TestApi;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The page in a headless browser, where one is installed, used by a script in place of an operator. */
@Tag("servers")
class RateLimitsPageTest extends AppPerTest {

    /** Loads the page as if it had been opened itself, and the script after it. */
    @RestController
    static class Operator {

        private static String script = "";

        @GetMapping(value = "/operator", produces = "text/html")
        String operator() {
            return """
                    <script>
                    history.replaceState(null, '', '/actuator/ratelimits/page');
                    fetch('/actuator/ratelimits/page').then(answer => answer.text()).then(page => {
                      document.open();
                      document.write(page + '<script>' + atob('%s') + '<\\/script>');
                      document.close();
                    });
                    </script>""".formatted(Base64.getEncoder()
                    .encodeToString((TOOLS + "(async () => {" + script + "})().catch(e => note('failed: ' + e));")
                            .getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** Notes are what the test reads; each step waits for what the page shows then. */
    private static final String TOOLS = """
            const notes = document.body.appendChild(document.createElement('pre'));
            notes.id = 'notes';
            const note = text => { notes.textContent += text + '\\n'; };
            const until = async condition => {
              for (let i = 0; i < 200 && !condition(); i++) await new Promise(next => setTimeout(next, 50));
              if (!condition()) throw new Error('never: ' + condition);
            };
            const section = name => [...document.querySelectorAll('#policies > section')]
              .find(one => one.querySelector('h2').textContent === name);
            const form = name => [...section(name).querySelectorAll('form')].pop();
            const field = (name, i) => form(name).querySelectorAll('input, select')[i];
            const output = name => section(name).querySelector(':scope > output');
            const press = async (name, text) => {
              output(name).textContent = '';
              [...form(name).parentElement.querySelectorAll('button')].find(one => one.textContent === text).click();
              if (text !== 'Continue from there') await until(() => output(name).textContent);
              return output(name).textContent;
            };
            const colleague = body => fetch('/actuator/ratelimits/p',
              {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
            const values = name => [0, 1, 2].map(i => field(name, i).value).join('|');
            """;

    @TempDir
    private Path profile;

    private static List<Path> browsers() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .toList();
    }

    /** What the script has noted within a minute of the browser's time, which does not pass while it waits for answers. */
    private List<String> run(String script) throws IOException, InterruptedException {
        assumeThat(browsers()).as("browsers on the path").isNotEmpty();
        start(
                List.of(TestApi.class, Operator.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted",
                "management.endpoint.ratelimits.show-keys=always",
                "p.limit=15/hour",
                "p.burst=20",
                "p.key=header:X-Id",
                "ratelimit.policies.q.limit=1/hour",
                "ratelimit.policies.q.match.paths=/any");
        Operator.script = "await until(() => section('q')); " + script;
        Path dom = profile.resolve("dom.html");
        Process browser = new ProcessBuilder(
                        browsers().get(0).toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--user-data-dir=" + profile,
                        "--virtual-time-budget=60000",
                        "--dump-dom",
                        "http://127.0.0.1:" + app.client().port() + "/operator")
                .redirectOutput(dom.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(browser.waitFor()).isZero();
        String page = Files.readString(dom, StandardCharsets.UTF_8);
        String start = "<pre id=\"notes\">";
        int at = page.indexOf(start);
        assertThat(at).as(page).isPositive();
        return page.substring(at + start.length(), page.indexOf("</pre>", at))
                .lines()
                .toList();
    }

    @Test
    void limit_canBeChangedBackToWhatThePageBeganWith() throws Exception {
        assertThat(run("""
                        note(values('p'));
                        field('p', 0).value = '30/hour'; note(await press('p', 'Change'));
                        field('p', 0).value = '15/hour'; note(await press('p', 'Change'));
                        note(await press('p', 'Change'));
                        """))
                .containsExactly(
                        "15/hour|20|enforce",
                        "In force from now on: 30/hour (token-bucket, burst 20), mode enforce. Note: the burst is still 20, so"
                                + " at most that many requests are admitted at once; change it as well, to 0 for the"
                                + " permits of one period.",
                        "In force from now on: 15/hour (token-bucket, burst 20), mode enforce. Note: the burst is still 20, so"
                                + " at most that many requests are admitted at once; change it as well, to 0 for the"
                                + " permits of one period.",
                        "Nothing is edited.");
    }

    @Test
    void modeOfAColleague_isLeftAlone_alsoByAFormThatIsBeingEdited() throws Exception {
        assertThat(run("""
                        await colleague({mode: 'shadow'}); await refresh(); note(values('p'));
                        field('p', 1).value = '0'; field('p', 0).value = '40/hour'; note(await press('p', 'Change'));
                        field('p', 0).value = '41/hour'; await colleague({mode: 'off'});
                        note(await press('p', 'Change')); await until(() => form('p').parentElement.textContent.includes('meanwhile'));
                        await press('p', 'Continue from there'); note(values('p')); note(await press('p', 'Change'));
                        """))
                .containsExactly(
                        "15/hour|20|shadow",
                        "In force from now on: 40/hour (token-bucket), mode shadow.",
                        "the policy was changed meanwhile, and is 40/hour (token-bucket), mode off now; look at it before you"
                                + " change it",
                        "41/hour||off",
                        "In force from now on: 41/hour (token-bucket), mode off.");
    }

    @Test
    void burst_thatIsNone_isRefused_andAnEmptyOneIsThatOfThePeriod() throws Exception {
        assertThat(run("""
                        field('p', 1).value = 'abc'; note(await press('p', 'Change'));
                        field('p', 1).value = '1.5'; note(await press('p', 'Change'));
                        field('p', 1).value = ''; note(await press('p', 'Change'));
                        note(await press('p', 'As configured')); note(values('p'));
                        """))
                .containsExactly(
                        "burst must be a whole number, 0 for the permits of one period, but was 'abc'",
                        "burst must be a whole number, 0 for the permits of one period, but was '1.5'",
                        "In force from now on: 15/hour (token-bucket), mode enforce.",
                        "In force from now on: 15/hour (token-bucket, burst 20), mode enforce.",
                        "15/hour|20|enforce");
    }

    @Test
    void policies_thatARefreshAddsRemovesOrGivesAnotherKey_areShownAsTheyAre() throws Exception {
        assertThat(run("""
                        const real = window.fetch;
                        const names = () => note([...document.querySelectorAll('#policies h2')].map(one => one.textContent).join());
                        const as = change => { window.fetch = async (...all) => {
                          const json = await (await real(...all)).json(); change(json.policies); return new Response(JSON.stringify(json)); }; };
                        as(all => { all.splice(0, 1, {...all[0], name: 'a'}, {...all[0], key: ['ip', 'method']}); all.pop(); });
                        await refresh(); names(); note(section('p').querySelectorAll('form')[0].querySelectorAll('input').length);
                        window.fetch = real; await refresh(); names();
                        """)).containsExactly("a,p", "2", "p,q");
    }

    @Test
    void whatIsInUse_isNotReplaced_andOldNumbersLookOld() throws Exception {
        assertThat(run("""
                        const ask = async times => { for (let i = 0; i < times; i++) await fetch('/orders/1', {headers: {'X-Id': 'eve'}}); };
                        await ask(25); await refresh();
                        const reset = () => section('p').querySelector('td button');
                        const focused = reset(); focused.focus();
                        await ask(3); await refresh(); note(focused === document.activeElement);
                        focused.blur(); await refresh(); note(section('p').querySelector('td + td').textContent);
                        window.fetch = async () => new Response('<html>Please log in</html>'); await refresh();
                        note(document.getElementById('status').textContent + ' ' + document.getElementById('main').className);
                        """))
                .containsExactly(
                        "true",
                        "8",
                        "These are old numbers: something else has answered; perhaps you have to log in again. stale");
    }

    @Test
    void caller_isFoundAsATable_escaped_andWithItsRefusals() throws Exception {
        assertThat(run("""
                        for (let i = 0; i < 23; i++) await fetch('/orders/1', {headers: {'X-Id': '<b>eve</b>'}});
                        const form = document.getElementById('caller'); const found = document.getElementById('found');
                        const output = form.nextElementSibling;
                        const find = async (name, value) => {
                          output.textContent = ''; form.reset(); form.elements[name].value = value; form.requestSubmit();
                          await until(() => output.textContent); note(output.textContent.replace(/by p: .* at /, 'by p: then at '));
                        };
                        await find('header', 'X-Id: <b>eve</b>');
                        const cells = [...found.querySelectorAll('tbody tr > *')].map(cell => cell.textContent);
                        note(cells.slice(0, 3).join('|') + '|' + cells[3].replace(/,.*/, '') + '|' + cells[4].replace(/since.*By/, 'By'));
                        note(found.querySelectorAll('b').length + ' ' + [...found.querySelectorAll('li')].map(one => one.textContent).join());
                        await find('header', 'X-Id: bob');
                        note(found.querySelector('td:nth-of-type(4)').textContent.replace(/since.*/, 'since'));
                        await find('address', 'x');
                        note(output.className + ' ' + found.children.length);
                        """))
                .containsExactly(
                        "Policies with a key of this caller: 1. Last refused by p: then at GET /orders/{id}, told to wait"
                                + " 4 min.",
                        "p|15/hour|&lt;b&gt;eve&lt;/b&gt;|0 of 20|3 By minutenow: 3",
                        "0 q: all callers share its budget",
                        "Policies with a key of this caller: 1. No refusals are remembered.",
                        "no refusals are remembered; none since",
                        "'x' is not an address; write 10.0.0.7 or 2001:db8::1",
                        "error 0");
    }
}
