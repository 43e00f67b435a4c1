package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.spring.boot.metrics.EndpointMeters;
import dev.ratelimit.spring.boot.metrics.MeteredOutcomeCounter;
import dev.ratelimit.spring.boot.redis.RedisChanges;
import dev.ratelimit.spring.boot.redis.RedisChangesMeters;
import dev.ratelimit.spring.boot.store.StoreMeters;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.request.NoRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.server.observation.DefaultServerRequestObservationConvention;
import org.springframework.http.server.observation.ServerHttpObservationDocumentation;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The meters that an application registers, as Prometheus names them, and expressions that ask for them. */
final class RegisteredMeters {

    private static final Pattern SELECTED = Pattern.compile("([A-Za-z_:][\\w:]*)\\{([^}]*)}");
    private static final Pattern GROUPED = Pattern.compile("\\bby \\(([^)]*)\\)");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~|!~|!=|=)\"([^\"]*)\"");
    private static final Pattern NAME = Pattern.compile("\\b[A-Za-z_:][\\w:]*\\b(?!\\s*\\()");

    private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "offset");

    /** What Prometheus, the scraping or the configuration of the application adds. */
    private static final Set<String> FOREIGN_LABELS = Set.of("job", "application", "instance");

    /** The tags of the meters of each name. */
    private final Map<String, List<Map<String, String>>> tags = new HashMap<>();

    private final Set<String> timers = new TreeSet<>();

    /** The names of each meter of rate limits. */
    private final Set<Set<String>> own = new HashSet<>();

    RegisteredMeters() {
        MeterRegistry registry = new SimpleMeterRegistry();
        new WebApplicationContextRunner()
                .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
                .withBean(MeterRegistry.class, () -> registry, bean -> bean.setDestroyMethodName(""))
                .withPropertyValues(
                        "ratelimit.policies.api.limit=1/hour",
                        "ratelimit.policies.api.on-exceeded.action=wait",
                        "ratelimit.metrics.endpoints=true")
                .run(context -> {
                    MeteredOutcomeCounter outcomes =
                            context.getBean("dev.ratelimit.outcomes", MeteredOutcomeCounter.class);
                    RequestContext request =
                            context.getBean(RequestRules.class).inForce().context(new NoRequest(null));
                    outcomes.count("api", null, Outcome.ADMITTED, request);
                    outcomes.waited("api", Outcome.WAITED, 1);
                    Runnable unused =
                            outcomes.held(Policy.of("api", Concurrency.of(1)).charge());
                    countAtEndpoint(context);
                    observeRequest(registry);
                    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
                            RedisStore store = RedisStore.builder(client).build();
                            StoreMeters meters = new StoreMeters(registry, RedisStoreFailure.values())) {
                        meters.watch(store);
                        RedisChangesMeters changes =
                                new RedisChangesMeters(registry, context.getBeanProvider(RedisChanges.class));
                        changes.watch(store);
                        registry.getMeters().forEach(this::add);
                        changes.close();
                    }
                });
    }

    private static void countAtEndpoint(AssertableWebApplicationContext context) {
        RequestContext request = context.getBean(RequestRules.class)
                .inForce()
                .context(new ServletWebRequest(
                        new MockHttpServletRequest("GET", "/"), new ServletPaths(new Dispatchers())));
        assertThat(request.endpoint()).isNotNull();
        EndpointMeters meters = context.getBean("dev.ratelimit.endpointMeters", EndpointMeters.class);
        Stream.of(Outcome.values()).forEach(outcome -> meters.count("api", null, outcome, request));
    }

    /** Meters a request as Spring does. */
    private static void observeRequest(MeterRegistry registry) {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(registry));
        ServerHttpObservationDocumentation.HTTP_SERVLET_SERVER_REQUESTS
                .observation(
                        null,
                        new DefaultServerRequestObservationConvention(),
                        () -> new ServerRequestObservationContext(
                                new MockHttpServletRequest(), new MockHttpServletResponse()),
                        observations)
                .start()
                .stop();
    }

    private void add(Meter meter) {
        Map<String, String> all =
                meter.getId().getTags().stream().collect(Collectors.toMap(Tag::getKey, Tag::getValue));
        if (meter instanceof Timer) {
            timers.add(meter.getId().getName());
            Map<String, String> bucket = new HashMap<>(all);
            bucket.put("le", "0.1");
            tags.computeIfAbsent(name(meter) + "_seconds_bucket", name -> new ArrayList<>())
                    .add(bucket);
        }
        if (name(meter).startsWith("ratelimit_")) {
            own.add(names(meter).collect(Collectors.toSet()));
        }
        names(meter)
                .forEach(name ->
                        tags.computeIfAbsent(name, unused -> new ArrayList<>()).add(all));
    }

    private static String name(Meter meter) {
        return meter.getId().getName().replace('.', '_');
    }

    private static Stream<String> names(Meter meter) {
        if (meter instanceof Timer) {
            return Stream.of("_seconds_sum", "_seconds_count", "_seconds_max").map(part -> name(meter) + part);
        }
        String unit =
                meter.getId().getBaseUnit() == null ? "" : "_" + meter.getId().getBaseUnit();
        return Stream.of(
                name(meter) + unit + (meter instanceof Counter || meter instanceof FunctionCounter ? "_total" : ""));
    }

    /** The names of each meter of rate limits, of which a timer has several. */
    Set<Set<String>> own() {
        return own;
    }

    /** The names of the timers, as in properties. */
    Set<String> timers() {
        return timers;
    }

    /**
     * Fails if an expression asks for a metric or a label that does not exist.
     *
     * @param recorded names that rules give to their results
     */
    Set<String> check(String expression, Set<String> recorded) {
        Set<String> asked = names(expression);
        assertThat(asked).as(expression).isNotEmpty();
        asked.removeAll(recorded);
        assertThat(tags.keySet()).as(expression).containsAll(asked);
        SELECTED.matcher(expression).results().forEach(this::checkSelector);
        assertThat(grouped(expression))
                .as(expression)
                .allSatisfy(label -> asked.forEach(name -> checkLabel(name, label)));
        return asked;
    }

    private static Set<String> names(String expression) {
        String bare = expression.replaceAll("\\{[^}]*}|\\[[^]]*]", "").replaceAll(GROUPED.pattern(), "");
        Set<String> names =
                NAME.matcher(bare).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
        names.removeAll(OPERATORS);
        return names;
    }

    /** The labels by which an expression groups its results. */
    static Set<String> grouped(String expression) {
        return GROUPED.matcher(expression)
                .results()
                .flatMap(found -> Stream.of(found.group(1).split(", ")))
                .collect(Collectors.toSet());
    }

    private void checkLabel(String metric, String label) {
        if (!FOREIGN_LABELS.contains(label)) {
            assertThat(tagsOf(metric))
                    .as("%s of %s", label, metric)
                    .allSatisfy(all -> assertThat(all).containsKey(label));
        }
    }

    private List<Map<String, String>> tagsOf(String metric) {
        return tags.getOrDefault(metric, List.of());
    }

    private void checkSelector(MatchResult selected) {
        String metric = selected.group(1);
        MATCHER.matcher(selected.group(2)).results().forEach(matcher -> {
            String label = matcher.group(1);
            String value = matcher.group(3);
            checkLabel(metric, label);
            if (!value.startsWith("$") && !label.equals("uri")) {
                assertThat(tagsOf(metric).stream().map(all -> all.get(label)))
                        .as("%s of %s", label, metric)
                        .contains(value.split("\\|", -1));
            }
        });
    }
}
