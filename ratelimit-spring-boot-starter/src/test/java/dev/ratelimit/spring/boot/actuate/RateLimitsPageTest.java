package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The page in a headless browser, where one is installed, used by a script in place of an operator. */
@Tag("slow")
@Tag("servers")
class RateLimitsPageTest {

    /** Loads the page as if it had been opened itself, and a script after it, for one test after another. */
    @RestController
    static class Operator {

        final BlockingQueue<String> scripts = new LinkedBlockingQueue<>();
        final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

        @GetMapping(value = "/operator", produces = "text/html")
        String operator() throws InterruptedException {
            return """
                    <script>
                    history.replaceState(null, '', '/actuator/ratelimits/page');
                    fetch('/actuator/ratelimits/page').then(answer => answer.text()).then(page => {
                      document.open();
                      document.write(page + '<script>' + atob('%s') + '<\\/script>');
                      document.close();
                    });
                    </script>""".formatted(base64(scripts.take()));
        }

        @PostMapping("/notes")
        void notes(@RequestBody String text) {
            notes.add(text);
        }
    }

    /** Nobody is on a plan, but there may be plans. */
    static class Plans implements PlanResolver {

        @Override
        public @Nullable String resolve(WebRequest request) {
            return null;
        }
    }

    /** Notes are what the test reads; each step waits for what the page shows then. The five seconds pass in {@code later}. */
    private static final String TOOLS = """
            const notes = [];
            const note = text => { notes.push(String(text)); };
            const wait = window.setTimeout, waiting = [];
            window.setTimeout = what => waiting.push(what);
            const until = async condition => {
              const end = Date.now() + 60000;
              while (!condition() && Date.now() < end) await new Promise(next => wait(next, 5));
              if (!condition()) throw new Error('never: ' + condition);
            };
            const later = async condition => {
              for (let i = 0; i < 6; i++) { await until(() => waiting.length); await waiting.shift()(); }
              await until(condition);
            };
            const texts = selector => [...document.querySelectorAll(selector)].map(one => one.textContent);
            const section = title => [...document.querySelectorAll('#view section')]
              .find(one => one.querySelector('h2, h3') && one.querySelector('h2, h3').textContent.startsWith(title));
            const visit = async (hash, title) => { location.hash = hash; await until(() => section(title)); await refresh(); };
            const field = (title, name) => section(title).querySelector('[name=' + name + ']');
            const output = title => section(title).querySelector('output');
            const press = async (title, text) => {
              const before = text === 'Undo' ? output(title).textContent : '';
              if (!before) output(title).textContent = '';
              [...section(title).querySelectorAll('button')].find(one => one.textContent === text).click();
              if (text !== 'Continue from there') await until(() => output(title).textContent !== before);
              await refresh();
              return output(title).textContent.replace(/Note: .*[.](?= Undo)/, 'Note.');
            };
            const change = async (name, value) => { field('Change', name).value = value; return press('Change', 'Change'); };
            const values = () => ['limit', 'burst', 'mode'].map(name => field('Change', name).value).join('|');
            const post = (path, body) => fetch('/actuator/ratelimits/' + path,
              {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
            const call = async (times, id) => { for (let i = 0; i < times; i++) await fetch('/orders/1', {headers: {'X-Id': id}}); };
            const real = window.fetch;
            const answer = edit => { window.fetch = async (...all) => {
              const json = await (await real(...all)).json(); edit(json); return new Response(JSON.stringify(json)); }; };
            """;

    private static final String LOADED = "await until(() => now.all && document.querySelector('#view section')); ";

    private static final String END =
            "await real('/notes', {method: 'POST', body: notes.join('\\n')}); location = '/operator'; ";

    @TempDir
    private static Path profile;

    private static @Nullable RunningApp app;
    private static @Nullable Process browser;
    private static int tests;

    private static List<Path> browsers() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .toList();
    }

    private static RunningApp start() throws IOException {
        RunningApp started = RunningApp.start(
                List.of(TestApi.class, Operator.class, Plans.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted",
                "management.endpoint.ratelimits.show-keys=always",
                "ratelimit.policies.q.limit=1/hour",
                "ratelimit.policies.q.match.paths=/any");
        app = started;
        browser = new ProcessBuilder(
                        browsers().get(0).toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--user-data-dir=" + profile,
                        "http://127.0.0.1:" + started.client().port() + "/operator")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return started;
    }

    /** All of its processes, so that nothing writes to its profile any more. */
    @AfterAll
    static void stop() {
        if (browser != null) {
            List<ProcessHandle> all = Stream.concat(browser.descendants(), Stream.of(browser.toHandle()))
                    .toList();
            browser.destroy();
            all.forEach(process -> process.onExit().join());
        }
        if (app != null) {
            app.close();
            app = null;
        }
    }

    /** What the script has noted. The policy {@code p} is another one in each test, which nobody has used or changed. */
    private static List<String> run(String script, String... more) throws IOException, InterruptedException {
        assumeThat(browsers()).as("browsers on the path").isNotEmpty();
        RunningApp running = app == null ? start() : app;
        String name = "p" + ++tests;
        Stream<String> properties =
                Stream.of("p.limit=15/hour", "p.burst=20", "p.key=header:X-Id", "p.match.paths=/orders/**");
        configure(
                running,
                Stream.concat(properties, Stream.of(more)).map(property -> property.replaceFirst("^p[.]", name + ".")));
        Operator operator = running.bean(Operator.class);

        operator.scripts.add("(async p => {" + TOOLS + "try {" + LOADED + script
                + "} catch (e) { note('failed: ' + e); }" + END + "})('" + name + "');");
        String notes = operator.notes.poll(90, TimeUnit.SECONDS);
        if (notes == null) {
            stop();
        }

        assertThat(notes).as("notes of the script").isNotNull();
        return notes.replaceAll("\\b" + name + "(?!\\d)", "p").lines().toList();
    }

    /** Replaces all policies but q. */
    private static void configure(RunningApp running, Stream<String> policies) {
        ConfigurableEnvironment environment = running.context().getEnvironment();
        environment.getPropertySources().remove("policies");
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "policies",
                        policies.map(property -> property.split("=", 2))
                                .collect(Collectors.toMap(
                                        property -> "ratelimit.policies." + property[0], property -> property[1]))));
        assertThat(running.bean(RefreshedConfiguration.class).refresh(environment))
                .isTrue();
    }

    private static String base64(String script) {
        return Base64.getEncoder().encodeToString(script.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void limit_canBeChangedBackToWhatThePageBeganWith() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'Change'); note(values());
                        note(await change('limit', '30/hour')); field('Change', 'duration').value = '';
                        note(await change('limit', '15/hour'));
                        note(await press('Change', 'Change'));
                        """))
                .containsExactly(
                        "15/hour|20|enforce",
                        "In force from now on: 30/hour (token-bucket, burst 20), mode enforce, for 2h. Note. Undo",
                        "In force from now on: 15/hour (token-bucket, burst 20), mode enforce. Note. Undo",
                        "Nothing is edited.");
    }

    @Test
    void modeOfAColleague_isLeftAlone_alsoByAFormThatIsBeingEdited() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'Change');
                        await post(p, {mode: 'shadow'}); await refresh(); note(values());
                        field('Change', 'burst').value = '0'; note(await change('limit', '40/hour'));
                        field('Change', 'limit').value = '41/hour'; await post(p, {mode: 'off'});
                        note(await press('Change', 'Change')); await until(() => section('Change').textContent.includes('meanwhile'));
                        await press('Change', 'Continue from there'); note(values()); note(await press('Change', 'Change'));
                        """))
                .containsExactly(
                        "15/hour|20|shadow",
                        "In force from now on: 40/hour (token-bucket), mode shadow, for 2h. Note. Undo",
                        "the policy was changed meanwhile, and is 40/hour (token-bucket), mode off now; look at it before you"
                                + " change it",
                        "41/hour||off",
                        "In force from now on: 41/hour (token-bucket), mode off, for 2h. Note. Undo");
    }

    @Test
    void undo_returnsToTheStateBefore_unlessAColleagueWasThere() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'Change');
                        await change('burst', ''); note(values()); await press('Change', 'Undo');
                        note(values() + ' ' + now.all.policies[0].changed);
                        await change('mode', 'shadow'); await change('limit', '16/hour'); await press('Change', 'Undo');
                        note(values() + ' ' + now.all.policies[0].changed);
                        await change('limit', '17/hour'); await post(p, {mode: 'off'}); note(await press('Change', 'Undo'));
                        note(values());
                        await visit('#/changes', 'In force now'); note(texts('#view h3').join(' | ')); note(texts('#view h4'));
                        note(texts('#view section p')[0].replace(/ by .* until .*;/, ' until then;'));
                        """))
                .containsExactly(
                        "15/hour||enforce",
                        "15/hour|20|enforce undefined",
                        "15/hour|20|shadow mode shadow",
                        "the policy was changed meanwhile, and is 17/hour (token-bucket, burst 20), mode off now; look at it"
                                + " before you change it",
                        "17/hour|20|off",
                        "In force now | History of changes | What differs, for the configuration",
                        "p",
                        "Changed: limit 17/hour until then; configured: 15/hour.");
    }

    @Test
    void undo_returnsValueEndAndReasonOfEachProperty_alsoOfPlans_butNotOfWhatHasEnded() throws Exception {
        assertThat(run("""
                        const changes = () => note(now.all.policies[0].changes
                          .map(one => [one.property, one.to, one.until ? 'ends' : 'stays', one.reason || ''].join(' ').trim()).join(', '));
                        await post(p, {mode: 'shadow', duration: '1h', reason: 'load'}); await post(p, {burst: '7'});
                        await post(p, {plan: 'pro', limit: '9/hour'});
                        await visit('#/policy/' + p, 'Change'); changes();
                        await press('Change', 'As configured'); note(now.all.policies[0].changes);
                        await press('Change', 'Undo'); changes();
                        await press('Change', 'Undo'); note(now.all.policies[0].changes);
                        await press('Change', 'Undo'); await press('Change', 'As configured');
                        now.all.recorded.time = '2200-01-01T00:00:00Z'; await press('Change', 'Undo'); changes();
                        await press('Change', 'As configured'); await post(p, {mode: 'off', duration: '1h'}); await refresh();
                        await press('Change', 'As configured');
                        now.all.recorded.time = '2200-01-01T00:00:00Z'; note(await press('Change', 'Undo'));
                        """, "p.plans.pro=10/hour"))
                .containsExactly(
                        "burst 7 stays, mode shadow ends load, plan-limit.pro 9/hour stays",
                        "undefined",
                        "burst 7 stays, mode shadow ends load, plan-limit.pro 9/hour stays",
                        "undefined",
                        "burst 7 stays, plan-limit.pro 9/hour stays",
                        "Nothing is left to undo: what was in force before has ended.");
    }

    @Test
    void undoOfAnOverride_bringsBackTheOneBefore_andBackAgain_unlessAColleagueWasThere() throws Exception {
        assertThat(run("""
                        const title = 'Overrides';
                        const set = (key, limit) => {
                          field(title, 'key').value = key; field(title, 'limit').value = limit; return press(title, 'Set'); };
                        const inForce = async () => note((await (await real('/actuator/ratelimits/' + p + '/overrides')).json())
                          .overrides.map(one => one.limit + ' ' + (one.reason || '')).join().trim() || 'none');
                        await post(p + '/overrides', {key: 'acme', limit: '50/hour', reason: 'contract'});
                        await visit('#/policy/' + p, title);
                        await set(' acme ', 'blocked'); await inForce();
                        await press(title, 'Undo'); await inForce();
                        await press(title, 'Undo'); await inForce();
                        await post(p + '/overrides', {key: 'acme', limit: '9/hour', reason: 'stolen key'});
                        note(await press(title, 'Undo')); await inForce();
                        """))
                .containsExactly(
                        "blocked",
                        "50/hour contract",
                        "blocked",
                        "the override of this key was changed meanwhile, and it is 9/hour now, set by 'anonymous', because of"
                                + " 'stolen key'; look at it before you change it Do it all the same",
                        "9/hour stolen key");
    }

    @Test
    void overrideOfAColleague_thatThePageHasNotShown_isToldBeforeItIsReplaced() throws Exception {
        assertThat(run("""
                        const title = 'Overrides';
                        const inForce = async () => note((await (await real('/actuator/ratelimits/' + p + '/overrides')).json())
                          .overrides.map(one => one.key + ' ' + one.limit).join() || 'none');
                        await post(p + '/overrides', {key: 'acme', limit: '700/hour'});
                        await visit('#/policy/' + p, title);
                        field(title, 'key').value = 'acme'; field(title, 'limit').value = '750/hour'; field(title, 'duration').value = '';
                        await post(p + '/overrides', {key: 'acme', limit: '950/hour', reason: 'sale'});
                        note(await press(title, 'Set')); await inForce();
                        const all = section(title).querySelector('output button'); all.click(); await until(() => output(title).textContent.startsWith('In force'));
                        await refresh(); note(output(title).textContent.replace(/Note: .*[.](?= Undo)/, 'Note.')); await inForce();
                        await press(title, 'Undo'); await inForce();
                        field(title, 'key').value = 'eve'; await post(p + '/overrides', {key: 'eve', limit: 'blocked'});
                        note((await press(title, 'Set')).slice(0, 66));
                        field(title, 'key').value = 'zoe'; await post(p + '/overrides', {key: 'zoe', limit: 'blocked'});
                        note((await press(title, 'End')).slice(0, 66)); note(await press(title, 'End')); await inForce();
                        await visit('#/caller?header=X-Id%3A+bob', p + ' '); await post(p + '/overrides', {key: 'bob', limit: 'unlimited'});
                        [...section(p + ' ').querySelectorAll('button')].find(one => one.textContent === 'Block').click();
                        await until(() => output('Act').textContent); note(output('Act').textContent.slice(0, 68)); await inForce();
                        """))
                .containsExactly(
                        "the override of this key was changed meanwhile, and it is 950/hour now, set by 'anonymous', because of"
                                + " 'sale'; look at it before you change it Do it all the same",
                        "acme 950/hour",
                        "In force: acme is 750/hour, by anonymous (on this instance only, until it restarts), in place of"
                                + " 950/hour: sale. Undo",
                        "acme 750/hour",
                        "acme 950/hour",
                        "the override of this key was changed meanwhile, and it is blocked ",
                        "the override of this key was changed meanwhile, and it is blocked ",
                        "The override of zoe has ended. Undo",
                        "acme 950/hour,eve blocked",
                        "the override of this key was changed meanwhile, and it is unlimited ",
                        "acme 950/hour,bob unlimited,eve blocked");
    }

    @Test
    void change_whoseAnswerIsLost_isReadAgain_andCanBeUndone() throws Exception {
        assertThat(run("""
                        const inForce = async () => note(now.all.policies[0].limit + ' ' + (await (await real('/actuator/ratelimits/' + p + '/overrides')).json())
                          .overrides.map(one => one.key + ' ' + one.limit).join());
                        const lost = () => new ReadableStream({start(body) { body.error(new DOMException('The user aborted a request.', 'AbortError')); }});
                        const losing = done => { window.fetch = async (path, how) => {
                          if (how.method === 'GET' || how.body.includes('dryRun')) return real(path, how);
                          if (done) await real(path, how); await refresh(); return new Response(lost()); }; };
                        await post(p + '/overrides', {key: 'acme', limit: '50/hour', reason: 'contract'});
                        await visit('#/policy/' + p, 'Change'); field('Change', 'duration').value = '';
                        losing(true); note(await change('limit', '30/hour')); note(section('Change').querySelectorAll('[role=alert]').length);
                        losing(false); note(await change('limit', '40/hour'));
                        field('Overrides', 'key').value = 'acme'; field('Overrides', 'duration').value = ''; note(await press('Overrides', 'Set'));
                        losing(true); note(await press('Overrides', 'Set')); await inForce();
                        window.fetch = real; await press('Overrides', 'Undo'); await inForce();
                        await press('Change', 'As configured'); losing(true); await change('limit', '30/hour');
                        window.fetch = real; await press('Change', 'Undo'); await inForce();
                        """))
                .containsExactly(
                        "No answer came, but it is in force now, by anonymous: 30/hour (token-bucket, burst 20), mode enforce. Undo",
                        "0",
                        "No answer came. It may be in force all the same, so look before you repeat it.",
                        "No answer came. It may be in force all the same, so look before you repeat it.",
                        "No answer came, but it is in force now: acme is blocked, by anonymous, in place of 50/hour, by"
                                + " anonymous: contract. Undo",
                        "30/hour acme blocked",
                        "30/hour acme 50/hour",
                        "15/hour acme 50/hour");
    }

    @Test
    void planOfAColleague_isNotOverwritten() throws Exception {
        assertThat(run("""
                        const pro = () => note(field('Plans', 'limit').value + ' ' + now.all.policies[0].plans.pro);
                        await visit('#/policy/' + p, 'Plans');
                        await post(p, {plan: 'pro', limit: '11/hour'}); await refresh(); pro();
                        field('Plans', 'limit').value = '12/hour'; await post(p, {plan: 'pro', limit: '8/hour'}); await refresh();
                        note((await press('Plans', 'Change')).slice(0, 33)); pro(); note(section('Plans').querySelector('[role=alert]').textContent);
                        await press('Plans', 'Continue from there'); note(await press('Plans', 'Change'));
                        await press('Plans', 'Undo'); pro(); note(await press('Plans', 'Change'));
                        """, "p.plans.pro=10/hour"))
                .containsExactly(
                        "11/hour 11/hour",
                        "the policy was changed meanwhile,",
                        "12/hour 8/hour",
                        "Somebody has changed it meanwhile, to 8/hour. Continue from there",
                        "In force from now on: plan pro, 12/hour, for 2h. Note. Undo",
                        "8/hour 8/hour",
                        "Nothing is edited.");
    }

    @Test
    void question_thatFailsOnce_andAnAddressOfNoView_breakNothing() throws Exception {
        assertThat(run("""
                        window.fetch = (path, ...more) => String(path).includes('history') ? Promise.resolve(new Response('{}', {status: 500})) : real(path, ...more);
                        await visit('#/policy/' + p, 'Change'); note(document.getElementById('state').className);
                        note(texts('#change button').join());
                        window.fetch = real; await refresh(); note(document.getElementById('state').className + ' ' + section('History').textContent.slice(0, 46));
                        for (const name of ['constructor', '__proto__', 'toString']) {
                          location.hash = '#/' + name; await until(() => texts('#view h2')[0] === 'Overview'); location.hash = '#/explain'; await until(() => section('What would')); }
                        """))
                .containsExactly(
                        "stale", "Change,Preview,As configured", "live History of changesNobody has changed anything.");
    }

    @Test
    void burst_thatIsNone_isRefused_andAnEmptyOneIsThatOfThePeriod() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'Change');
                        note(await change('burst', 'abc'));
                        note(await change('burst', '1.5'));
                        note(await change('burst', ''));
                        note(await press('Change', 'As configured')); note(values());
                        """))
                .containsExactly(
                        "burst must be a whole number, 0 for the permits of one period, but was 'abc'",
                        "burst must be a whole number, 0 for the permits of one period, but was '1.5'",
                        "In force from now on: 15/hour (token-bucket), mode enforce, for 2h. Note. Undo",
                        "In force from now on: 15/hour (token-bucket, burst 20), mode enforce. Note. Undo",
                        "15/hour|20|enforce");
    }

    @Test
    void overview_showsFirstWhoRefuses_andFoldsWhatIsQuiet() throws Exception {
        assertThat(run("""
                        const names = () => note(texts('.list th[scope=row] a').join() + ' | ' + texts('details:not(#extra) summary').join());
                        await call(25, 'eve'); await refresh(); names(); note(texts('#view p[role=status]'));
                        note(texts('.list .share').join());
                        answer(json => { json.policies.push({...json.policies[0], name: 'a', lastHour: {admitted: Array(60).fill(9), refused: Array(60).fill(0)}}); });
                        await refresh(); names();
                        const filter = document.querySelector('#view input[type=search]');
                        filter.value = '9 a'; filter.oninput(); names(); note(location.hash);
                        filter.value = 'X-ID'; filter.oninput(); names();
                        window.fetch = real; await refresh(); filter.value = ''; filter.oninput(); names();
                        """))
                .containsExactly(
                        "p | 1 quiet policy, without requests in the last hour",
                        "1 of 2 policies refuses 5 % of its requests or more.",
                        "▲ 20 %",
                        "p,a | 1 quiet policy, without requests in the last hour",
                        " | 0 quiet policies, without requests in the last hour",
                        "#/?filter=9+a",
                        "p,a | 0 quiet policies, without requests in the last hour",
                        "p | 1 quiet policy, without requests in the last hour");
    }

    @Test
    void policies_thatARefreshRemovesOrGivesAnotherKey_areShownAsTheyAre() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'A key');
                        answer(json => { if (json.policies) json.policies[0].key = ['ip', 'method']; });
                        await refresh(); note(section('A key').querySelectorAll('input').length);
                        answer(json => { if (json.policies) json.policies.shift(); });
                        await refresh(); note(document.getElementById('view').textContent);
                        window.fetch = real; await refresh(); note(section('A key').querySelectorAll('input').length);
                        """))
                .containsExactly(
                        "2", "pThere is no policy of this name any more, or there never was. All policies", "1");
    }

    @Test
    void whatIsInUse_staysWhereItIs_andOldNumbersLookOld() throws Exception {
        assertThat(run("""
                        await visit('#/policy/' + p, 'Most refused');
                        await call(25, 'eve'); await refresh();
                        const reset = section('Most refused').querySelector('td button'); reset.focus();
                        await call(30, 'bob'); await refresh();
                        note((reset === document.activeElement) + ' ' + section('Most refused').querySelector('td').textContent);
                        reset.blur(); await refresh(); note(section('Most refused').querySelector('td').textContent);
                        const state = () => note(document.getElementById('state').textContent.replace(/since .*?(:|$)(?!\\d)/, 'since then$1') + ' ' + document.body.className);
                        state();
                        window.fetch = async () => new Response('<html>Please log in</html>'); await refresh(); state();
                        window.fetch = async () => { throw new TypeError('Failed to fetch'); }; await refresh(); state();
                        window.fetch = real; await refresh(); state();
                        """))
                .containsExactly(
                        "true eve",
                        "bob",
                        "● Live ",
                        "▲ Stale since then: something else has answered; perhaps you have to log in again old",
                        "✕ Server gone since then old",
                        "● Live ");
    }

    @Test
    void instances_thatAnswerInTurn_andAStoreThatIsDown_areTold() throws Exception {
        assertThat(run("""
                        note(texts('#banners section').length + ' ' + texts('#application'));
                        answer(json => { json.instance = {application: '<i>shop</i>', name: 'b:80'}; json.store.available = false; });
                        await refresh(); texts('#banners section').forEach(text => note(text.replace(/[(].*?, /, '(a:80, ')));
                        note(texts('#application') + ', ' + document.title + ', ' + document.querySelectorAll('i').length);
                        """))
                .containsExactly(
                        "0 Rate limits",
                        "The store does not answer.",
                        "Several instances answer in turn (a:80, b:80), so the numbers jump. Ask one of them directly.",
                        "<i>shop</i>: rate limits, <i>shop</i> · b:80 · rate limits, 0");
    }

    @Test
    void caller_isFound_escaped_andBlockedInOneClick() throws Exception {
        assertThat(run("""
                        await call(23, '<b>eve</b>');
                        await visit('#/policy/' + p, 'Most refused');
                        const link = section('Most refused').querySelector('td a'); note(link.textContent + ' ' + link.getAttribute('href'));
                        link.click(); await until(() => section(p + ' ')); await refresh();
                        note(texts('.results section p')[0]);
                        note(section(p + ' ').querySelectorAll('td b b').length + ' ' + section(p + ' ').querySelector('td b').textContent);
                        note(section(p + ' ').querySelectorAll('td')[1].textContent.replace(/full in .*? min/, 'full soon').replace(/for .*? min/, 'for a while'));
                        note(section(p + ' ').querySelectorAll('td')[2].textContent);
                        field('Act', 'reason').value = 'loop';
                        const click = async text => { output('Act').textContent = ''; [...section(p + ' ').querySelectorAll('button')].find(one => one.textContent === text).click();
                          await until(() => output('Act').textContent); await refresh(); };
                        await click('Block'); note(output('Act').textContent.replace(/until .*, by/, 'until then, by'));
                        note(section(p + ' ').querySelectorAll('td')[1].textContent.replace(/until .*, by/, 'until then, by'));
                        await press('Act', 'Undo'); note(output('Act').textContent);
                        await click('Raise to'); note(output('Act').textContent.replace(/until .*, by/, 'until then, by'));
                        """))
                .containsExactly(
                        "<b>eve</b> #/caller?header=x-id%3A+%3Cb%3Eeve%3C%2Fb%3E",
                        "Refused now by p.",
                        "0 <b>eve</b>",
                        "0 of 20 left, full soon 15/hour (token-bucket, burst 20)▲ would be refused for a while",
                        "3",
                        "In force: <b>eve</b> is blocked until then, by anonymous: loop (on this instance only, until it restarts). Undo",
                        "▲ would be refusedoverride: blocked until then, by anonymous: loop",
                        "The override of <b>eve</b> has ended. Undo",
                        "In force: <b>eve</b> is 30/hour until then, by anonymous: loop (on this instance only, until it restarts). Undo");
    }

    @Test
    void limitOfACaller_isTheOneThatTheFieldShows_alsoAfterARefresh() throws Exception {
        assertThat(run("""
                        await call(2, 'eve'); await visit('#/caller?header=X-Id%3A+eve', p + ' ');
                        section(p + ' ').querySelector('input').value = '77/hour'; await refresh();
                        note(section(p + ' ').querySelector('input').value);
                        [...section(p + ' ').querySelectorAll('button')].find(one => one.textContent === 'Raise to').click();
                        await until(() => output('Act').textContent); note(output('Act').textContent.slice(0, 27));
                        """)).containsExactly("77/hour", "In force: eve is 77/hour un");
    }

    @Test
    void callerWithoutAName_isBlockedByAddress() throws Exception {
        assertThat(run("""
                        await visit('#/caller?address=127.0.0.1', 'users ');
                        note([...section('users ').querySelectorAll('button')].map(one => one.textContent));
                        [...section('users ').querySelectorAll('button')].find(one => one.textContent === 'Block').click();
                        await until(() => output('Act').textContent); await refresh(); note(output('Act').textContent.slice(0, 32));
                        note([...section('users ').querySelectorAll('button')].map(one => one.textContent));
                        await press('Act', 'Undo'); note(output('Act').textContent);
                        """, "users.limit=5/hour", "users.key=user", "users.match.paths=/orders/**"))
                .containsExactly(
                        "Block,Raise to,Reset",
                        "In force: ip:127.0.0.1 is blocke",
                        "Block,Raise to,End the override,Reset",
                        "The override of ip:127.0.0.1 has ended. Undo");
    }

    @Test
    void search_knowsAddressesAndHeaders_andSaysWhatIsWrong() throws Exception {
        assertThat(run("""
                        const find = async text => {
                          document.querySelector('#search input').value = text; document.getElementById('search').requestSubmit();
                          await until(() => location.hash.startsWith('#/caller') && texts('.results section').length); await refresh();
                          note(location.hash + ' ' + texts('.results p')[0]); location.hash = '#/'; await until(() => texts('#view h2')[0] === 'Overview'); };
                        await find('X-Id: bob'); await find('203.0.113.7'); await find('alice');
                        location.hash = '#/caller?address=x'; await until(() => texts('.results .bad').length); note(texts('.results .bad'));
                        """))
                .containsExactly(
                        "#/caller?header=X-Id%3A+bob No policy refuses this caller now.",
                        "#/caller?address=203.0.113.7 No policy refuses this caller now.",
                        "#/caller?key=alice No policy refuses this caller now.",
                        "'x' is not an address; write 10.0.0.7 or 2001:db8::1");
    }

    @Test
    void overrides_areSetListedAndEnded_andThatCanBeUndone() throws Exception {
        assertThat(run("""
                        const title = 'Overrides';
                        const row = () => note(texts('#overrides td').slice(0, 2).join() || 'none');
                        await visit('#/policy/' + p, title); row();
                        field(title, 'key').value = '<i>x</i>'; field(title, 'limit').value = '50/minute'; field(title, 'duration').value = '';
                        await press(title, 'Set'); await until(() => texts('#overrides td').length); row();
                        note([...section(title).children].map(one => one.localName));
                        await press(title, 'Undo'); await later(() => !texts('#overrides td').length); row();
                        await press(title, 'Set'); await until(() => texts('#overrides td').length);
                        section(title).querySelector('td button').click(); await until(() => output(title).textContent.includes('ended'));
                        await until(() => !texts('#overrides td').length); row();
                        await press(title, 'Undo'); await later(() => texts('#overrides td').length); row();
                        field(title, 'limit').value = 'many'; note((await press(title, 'Set')).slice(0, 29 + p.length));
                        note(document.querySelectorAll('i i, td i').length);
                        """))
                .containsExactly(
                        "none",
                        "<i>x</i>,50/minute",
                        "h3,form,output,input,div",
                        "none",
                        "none",
                        "<i>x</i>,50/minute",
                        "'many' is not a limit of a key;",
                        "0");
    }

    @Test
    void policyThatIsOff_isPutInForceOnAPath_andThatCanBeUndone() throws Exception {
        assertThat(run("""
                        const form = document.querySelector('#extra form'), out = document.querySelector('#extra output');
                        const offered = () => note([...form.elements.policy.options].map(one => one.value).join());
                        const said = async words => { await until(() => out.textContent.includes(words)); note(out.firstChild.data); };
                        offered();
                        form.elements.paths.value = '/orders/*'; form.elements.limit.value = '2/minute'; form.requestSubmit();
                        await said('from now on'); await until(() => now.all.policies.length === 4); offered();
                        out.querySelector('button').click(); await said('off again'); await until(() => now.all.policies.length === 3); offered();
                        form.elements.paths.value = 'orders'; form.requestSubmit(); await until(() => out.className === 'bad'); note(out.textContent.slice(0, 46));
                        """, "ready.limit=1/hour", "ready.mode=off"))
                .containsExactly(
                        "extra-by-address,extra-by-user,extra-shared,ready",
                        "In force from now on: extra-by-address, 2/minute (token-bucket), on /orders/*.",
                        "extra-by-address-2,extra-by-user,extra-shared,ready",
                        "extra-by-address is off again.",
                        "extra-by-address,extra-by-user,extra-shared,ready",
                        "ratelimit.policies.extra-by-address.match.path");
    }

    @Test
    void page_thatMayNotWrite_hasNoForms() throws Exception {
        assertThat(run("""
                        const titles = () => note(texts('#view h3').includes('Change') + ' | ' + texts('#banners').join());
                        await visit('#/policy/' + p, 'Change');
                        window.fetch = (path, how) => how.method === 'POST' ? Promise.resolve(new Response('{}', {status: 403})) : real(path, how);
                        field('Change', 'limit').value = '1/hour'; [...section('Change').querySelectorAll('button')][0].click();
                        await until(() => !section('Change')); titles();
                        window.fetch = real; now.denied = null; await refresh(); titles();
                        answer(json => { json.writable = false; }); await refresh(); titles();
                        """))
                .containsExactly(
                        "false | Changes are not permitted: the server answered 403. With protection against CSRF, the application"
                                + " needs csrf.spa(). Reload the page to try again.",
                        "true | ",
                        "false | Read-only: changes need management.endpoint.ratelimits.access: unrestricted.");
    }

    @Test
    void minute_isReadWithTheArrowKeys() throws Exception {
        assertThat(run("""
                        await call(25, 'eve'); await visit('#/policy/' + p, 'Last hour');
                        const plot = section('Last hour').querySelector('[role=slider]');
                        const key = name => { plot.dispatchEvent(new KeyboardEvent('keydown', {key: name})); note(plot.getAttribute('aria-valuetext').replace(/^\\d\\d:\\d\\d/, 'then')); };
                        key('End'); key('ArrowLeft');
                        """))
                .containsExactly("then until now: 25 requests, 20 admitted, 5 refused (20 %)", "then: not recorded");
    }

    @Test
    void explain_saysWhatWouldBecomeOfARequest() throws Exception {
        assertThat(run("""
                        await call(20, 'eve'); await visit('#/explain', 'What would');
                        field('What would', 'path').value = 'https://shop.example/orders/1?x=1'; field('What would', 'header').value = 'X-Id: eve\\nAccept: text/html';
                        section('What would').querySelector('form').requestSubmit(); await until(() => texts('#view section td').length);
                        note(location.hash); note(texts('#view section p.bad')); note(texts('#view section td').slice(0, 3).join('|'));
                        """))
                .containsExactly(
                        "#/explain?method=GET&path=%2Forders%2F1%3Fx%3D1&header=X-Id%3A+eve&header=Accept%3A+text%2Fhtml",
                        "▲ It would be refused by p at GET /orders/{id}.", "▲ refused|eve|1");
    }
}
