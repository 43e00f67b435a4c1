package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.request;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.StepMeter;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.UriUtils;

/**
 * A request that is twice as long takes about twice the work at most, admitted or refused, wherever its text is read.
 * Otherwise, a single request could keep a server busy before any limit could refuse it. What leaves the request does not
 * grow at all: keys, answers, log lines and meters.
 */
@Tag("nightly")
@SpringBootTest(classes = WorkAgainstLengthTest.Application.class)
@OnBoot.MockMvc
@WithFakeTicker
@ExtendWith(OutputCaptureExtension.class)
class WorkAgainstLengthTest {

    /** Of the shorter text. */
    private static final int LENGTH = 8_000;

    private static final double MAX_GROWTH = 2.2;

    /** Marks in the wrong order, letters that become several, letters with many cases, and invisible ones. */
    private static final List<String> NAMES = List.of(
            "\u0301 \u0323",
            "\u0130\u1e9e",
            "\u0345\u0313",
            "\ufdfa",
            "\u3000\u200b x \u3000",
            "\uac00\u4e00",
            "e\u0301\u0301\u0323\u0323",
            "\ud834\udd5e");

    private static final List<String> LINES =
            List.of("a", "\u00df", ", ", "; =", "\" \\", "a=\"b\";", "a/b;q=0.1,", "%41");

    private static final List<String> ADDRESSES = List.of(
            "1", ":", "1:", "1.", "[", "%", "::1%", "10.0.0.1,", ", 10.0.0.1", "for=10.0.0.1,", "a=\"\\\"\";", "\",\"");

    private static final List<String> PATHS =
            List.of("a", "-", "a/", "a/.", "./", "a/../", ";", ";a=b", "%2e%2e/", "%25", "%2f", "%CC%81", "-/_");

    private static final List<String> QUERIES = List.of("q=1&", "&", "a=b&", "%71=%41&", "+", "=", "%CC%81", "q%3d");

    /** A place of a text: what makes it one, the nasty texts there, and how a request carries them. */
    private record Place(String name, String rule, List<String> texts, Carrier carrier) {}

    @FunctionalInterface
    private interface Carrier {
        MockHttpServletRequestBuilder of(String text);
    }

    /** The rule of a place on an exempt path. */
    private static final String EXEMPT = "key=ip; match.paths=/alive/**";

    /** The rule of a place that the handler's annotation limits. */
    private static final String AT_CALL = "";

    private static final List<Place> PLACES = List.of(
            // names
            new Place("user", "key=user", NAMES, text -> get("/any").principal(() -> text)),
            new Place("principal", "key=principal", NAMES, text -> get("/any").principal(() -> text)),
            new Place("claim", "key=claim:sub", NAMES, text -> get("/any").principal(token(text))),
            new Place(
                    "principal in an expression",
                    "key=#principal?.name + #request.method",
                    NAMES,
                    text -> get("/any").principal(() -> text)),
            new Place(
                    "parameter in an expression",
                    "key=#request.getParameter('p')",
                    NAMES,
                    text -> get("/any").param("p", text)),
            new Place("KeyResolver", "key=bean:text", NAMES, text -> get("/any").header("X-Text", text)),
            new Place(
                    "PlanResolver",
                    "key=ip; plan-resolver=plan; plans.gold=1/day",
                    NAMES,
                    text -> get("/any").header("X-Text", text)),
            new Place(
                    "key with overrides",
                    "key=header:X-Text; overrides.a=1/day; overrides.b=blocked",
                    NAMES,
                    text -> get("/any").header("X-Text", text)),
            // headers, cookies and the method
            new Place("header", "key=header:X-Text", LINES, text -> get("/any").header("X-Text", text)),
            new Place(
                    "header in many lines",
                    "key=header:X-Text",
                    List.of("a"),
                    text -> get("/any").header("X-Text", (Object[]) text.split("", -1))),
            new Place("many headers", EXEMPT, List.of("a"), text -> {
                MockHttpServletRequestBuilder request = get("/alive");
                IntStream.range(0, text.length() / 20).forEach(i -> request.header("X-" + i, "a"));
                return request;
            }),
            new Place(
                    "Authorization",
                    "key=header:Authorization",
                    LINES,
                    text -> get("/any").header("Authorization", "Basic " + text)),
            new Place(
                    "Authorization on an exempt path",
                    EXEMPT,
                    LINES,
                    text -> get("/alive").header("Authorization", text)),
            new Place(
                    "header in a condition",
                    "key=ip; match.when=#request.getHeader('X-Text') > 'A'",
                    LINES,
                    text -> get("/any").header("X-Text", text)),
            new Place(
                    "cookie",
                    "key=cookie:sid",
                    List.of("a", "%41", "."),
                    text -> get("/any").cookie(new Cookie("sid", text))),
            new Place(
                    "many cookies",
                    "key=cookie:sid",
                    List.of("a"),
                    text -> get("/any")
                            .cookie(IntStream.range(0, text.length() / 20)
                                    .mapToObj(i -> new Cookie("c" + i, "a"))
                                    .toArray(Cookie[]::new))),
            new Place(
                    "method",
                    "key=method, ip",
                    List.of("A", "a"),
                    text -> request(HttpMethod.valueOf(text), URI.create("/any"))),
            new Place(
                    "Accept",
                    "key=endpoint",
                    LINES,
                    text -> request(HttpMethod.POST, URI.create("/typed")).header("Accept", text)),
            new Place(
                    "Content-Type",
                    "key=endpoint",
                    LINES,
                    text -> request(HttpMethod.POST, URI.create("/typed"))
                            .header("Content-Type", "application/json;" + text)),
            new Place("Origin", "key=ip", LINES, text -> get("/cross").header("Origin", "https://" + text)),
            new Place(
                    "preflight",
                    "key=ip",
                    LINES,
                    text -> request(HttpMethod.OPTIONS, URI.create("/cross?key=x"))
                            .header("Origin", "https://a.example")
                            .header("Access-Control-Request-Method", "GET")
                            .header("Access-Control-Request-Headers", text)),
            // addresses
            new Place(
                    "X-Forwarded-For", "key=ip", ADDRESSES, text -> get("/any").header("X-Forwarded-For", text)),
            new Place("Forwarded", "key=ip", ADDRESSES, text -> get("/any").header("Forwarded", text)),
            new Place(
                    "Forwarded before an address",
                    "key=ip",
                    ADDRESSES,
                    text -> get("/any").header("Forwarded", text, "for=\"[2001:db8::1]:80\"")),
            new Place(
                    "both of them",
                    "key=ip",
                    ADDRESSES,
                    text -> get("/any").header("Forwarded", text).header("X-Forwarded-For", text)),
            new Place(
                    "address of the peer",
                    "key=ip",
                    ADDRESSES,
                    text -> get("/any").with(request -> {
                        request.setRemoteAddr(text);
                        return request;
                    })),
            // paths
            new Place("path", "key=ip; match.paths=/**; match.except-paths=/x/**", PATHS, text -> get("/" + text)),
            new Place("endpoint", "key=endpoint", PATHS, text -> get("/files/" + text)),
            new Place("exempt path", EXEMPT, PATHS, text -> get("/alive/" + text + "?key=x")),
            new Place(
                    "wildcards in a segment",
                    "key=ip; match.paths=/files/*-*-*.pdf, /**",
                    PATHS,
                    text -> get("/files/" + text)),
            new Place(
                    "variables in a segment",
                    "key=ip; match.paths=/**/{a}-{b}_{c}, /**",
                    PATHS,
                    text -> get("/files/" + text)),
            new Place("variables of a mapping", "key=endpoint", PATHS, text -> get("/mapped/" + text)),
            new Place(
                    "variable",
                    "key=path:id",
                    NAMES,
                    text -> get("/variable/" + UriUtils.encode(text, StandardCharsets.UTF_8))),
            new Place("path with free answers", "key=ip; free=3xx; penalty=1m", PATHS, text -> get("/any/" + text)),
            new Place(
                    "path of a waiting request",
                    "key=ip; on-exceeded.action=wait; on-exceeded.max-wait=1h",
                    PATHS,
                    text -> get("/any/" + text)),
            // queries
            new Place("query", "key=query:q", QUERIES, text -> get("/any?" + text)),
            new Place("value in the query", "key=query:q", QUERIES, text -> get("/any?q=" + text.replace('&', '/'))),
            // arguments of methods
            new Place("text in JSON", AT_CALL, NAMES, text -> json("/name", "name", text)));

    /** What operators ask, with texts that somebody gave them. */
    private static final List<Place> QUESTIONS = List.of(
            new Place("path to explain", "", PATHS, text -> ask("/explain").queryParam("path", "/files/" + text)),
            new Place(
                    "header to explain",
                    "",
                    LINES,
                    text -> ask("/explain")
                            .queryParam("path", "/any")
                            .queryParam("header", "X-Text: " + text, "Cookie: " + text, "Forwarded: " + text)),
            new Place(
                    "user to explain",
                    "",
                    NAMES,
                    text -> ask("/explain").queryParam("path", "/any").queryParam("user", text)),
            new Place(
                    "address to explain",
                    "",
                    ADDRESSES,
                    text -> ask("/explain").queryParam("path", "/any").queryParam("address", text)),
            new Place("key", "", NAMES, text -> ask("/user").queryParam("key", text)),
            new Place("address as a key", "", ADDRESSES, text -> ask("/p21").queryParam("key", text)),
            new Place("policy", "", NAMES, text -> ask("/{policy}", text)),
            new Place("parameter", "", NAMES, text -> ask("").queryParam(text, "a")));

    private static MockHttpServletRequestBuilder get(String path) {
        return request(HttpMethod.GET, URI.create(path));
    }

    private static MockHttpServletRequestBuilder json(String path, String member, String text) {
        return request(HttpMethod.POST, URI.create(path))
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"" + member + "\":\"" + text + "\"}");
    }

    private static JwtAuthenticationToken token(String subject) {
        return new JwtAuthenticationToken(
                new Jwt("t", Instant.EPOCH, Instant.MAX, Map.of("alg", "none"), Map.of("sub", subject)));
    }

    /** A text of about this length: of its pieces, each repeated for its share. */
    private static String text(String pieces, int length) {
        List<String> all = Stream.of(pieces.split(" ", -1))
                .filter(piece -> !piece.isEmpty())
                .toList();
        return all.stream()
                .map(piece -> piece.repeat(length / all.size() / piece.length()))
                .collect(Collectors.joining());
    }

    record Body(String name) {}

    @RestController
    static class Handlers {

        @GetMapping("/any")
        void any() {}

        @GetMapping("/variable/{id}")
        void variable() {}

        @GetMapping("/files/{a}/**")
        void files() {}

        @GetMapping("/mapped/{a}-{b}_{c}.pdf")
        void mapped() {}

        @PostMapping(path = "/typed", consumes = "application/json", produces = "application/json")
        void typed() {}

        @GetMapping("/cross")
        @CrossOrigin("https://a.example")
        void cross() {}

        @PostMapping("/name")
        @RateLimited(value = "1/hour", key = "#a0.name")
        void name(@RequestBody Body body) {}
    }

    private static MockHttpServletRequestBuilder ask(String path, Object... variables) {
        return request(HttpMethod.GET, "/actuator/ratelimits" + path, variables);
    }

    @Configuration(proxyBeanMethods = false)
    @Import({RunningApp.WithoutSecurity.class, Handlers.class})
    static class Application {

        @Bean
        KeyResolver text() {
            return request -> request.header("X-Text");
        }

        @Bean
        PlanResolver plan() {
            return request -> request.header("X-Text");
        }

        /** Answers instead of the application, whose own work no limit bounds. */
        @Bean
        FilterRegistrationBean<Filter> application() {
            FilterRegistrationBean<Filter> last = new FilterRegistrationBean<>((request, response, chain) -> {
                if (((HttpServletRequest) request).getHeader("X-Call") != null) {
                    chain.doFilter(request, response);
                }
            });
            last.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            last.setOrder(Ordered.LOWEST_PRECEDENCE);
            return last;
        }

        @Bean
        StoreDecorator watch() {
            return store -> new ForwardingStore(store) {
                @Override
                public Decision decide(List<Charge> charges) {
                    charges.forEach(
                            charge -> LONGEST_KEY.accumulate(charge.key().length()));
                    return super.decide(charges);
                }
            };
        }
    }

    @DynamicPropertySource
    static void configure(DynamicPropertyRegistry properties) {
        properties.add("management.endpoints.web.exposure.include", () -> "ratelimits");
        properties.add("management.endpoint.ratelimits.show-keys", () -> "always");
        properties.add("ratelimit.trusted-proxies", () -> "10.0.0.0/8, 127.0.0.1");
        properties.add("ratelimit.forwarded-header", () -> "any");
        properties.add("ratelimit.exempt.paths", () -> "/alive/**");
        properties.add("ratelimit.policies.user.limit", () -> "9999/hour");
        properties.add("ratelimit.policies.user.key", () -> "user");
        for (Place place : PLACES) {
            String policy = "ratelimit.policies.p" + PLACES.indexOf(place) + ".";
            if (!place.rule().equals(AT_CALL)) {
                properties.add(policy + "limit", () -> "1/hour");
                for (String property : place.rule().split("; ", -1)) {
                    properties.add(
                            policy + property.substring(0, property.indexOf('=')),
                            () -> property.substring(property.indexOf('=') + 1));
                }
                String when = "#request.getHeader('X-Place') == '" + PLACES.indexOf(place) + "'";
                properties.add(policy + "match.when", () -> when);
            }
        }
    }

    private static final LongAccumulator LONGEST_KEY = new LongAccumulator(Math::max, 0);

    @SuppressWarnings("NullAway.Init") // before all tests
    private static StepMeter meter;

    @BeforeAll
    static void prepare() throws Exception {
        meter = new StepMeter();
    }

    @AfterAll
    static void restore() throws Exception {
        meter.close();
    }

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private FakeTicker ticker;

    @Autowired
    private MeterRegistry meters;

    /** What a request cost, and how long its answer is. */
    private record Answer(long steps, int status, int length) {}

    private Answer send(Place place, String text) {
        MockHttpServletRequestBuilder request = place.carrier().of(text).header("X-Place", PLACES.indexOf(place));
        if (place.rule().equals(AT_CALL)) {
            request.header("X-Call", "yes");
        }
        MockHttpServletResponse[] answer = new MockHttpServletResponse[1];
        long steps = meter.stepsOf(() -> answer[0] = mvc.perform(request).getResponse());
        int headers = answer[0].getHeaderNames().stream()
                .mapToInt(name -> answer[0].getHeaders(name).toString().length())
                .sum();
        return new Answer(steps, answer[0].getStatus(), headers + answer[0].getContentAsByteArray().length);
    }

    private static Stream<Arguments> textsOf(List<Place> places) {
        return places.stream()
                .flatMap(place -> place.texts().stream().map(pieces -> Arguments.of(place.name(), pieces, place)));
    }

    static Stream<Arguments> requests() {
        return textsOf(PLACES);
    }

    static Stream<Arguments> questions() {
        return textsOf(QUESTIONS);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("requests")
    void request_ofTwiceTheLength(String place, String pieces, Place of) {
        String shorter = text(pieces, LENGTH);
        String longer = text(pieces, 2 * LENGTH);
        sendTwice(of, shorter);
        sendTwice(of, longer);

        List<Answer> once = sendTwice(of, shorter);
        List<Answer> twice = sendTwice(of, longer);

        boolean refusable = !of.rule().equals(EXEMPT) && !of.rule().contains("wait");
        assertThat(twice.get(0).status()).isNotEqualTo(429);
        assertThat(twice.get(1).status() == 429).isEqualTo(refusable);
        for (int i = 0; i < 2; i++) {
            assertThat((double) twice.get(i).steps() / once.get(i).steps()).isLessThan(MAX_GROWTH);
            assertThat(twice.get(i).length()).isEqualTo(once.get(i).length());
        }
    }

    /** First admitted, then refused. What is read or logged once, is so before. */
    private List<Answer> sendTwice(Place place, String text) {
        ticker.advance(Duration.ofDays(1));
        return List.of(send(place, text), send(place, text));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("questions")
    void question_ofTwiceTheLength(String place, String pieces, Place of) {
        String shorter = text(pieces, LENGTH);
        String longer = text(pieces, 2 * LENGTH);
        sendTwice(of, shorter);
        sendTwice(of, longer);

        Answer once = send(of, shorter);
        Answer twice = send(of, longer);

        assertThat((double) twice.steps() / once.steps()).isLessThan(MAX_GROWTH);
    }

    /** What Spring logs of a path, it logs without limits, too. */
    @Test
    void texts_leaveNoTraceOutsideOfTheRequest(CapturedOutput output) {
        for (Place place : PLACES) {
            place.texts().forEach(pieces -> sendTwice(place, text(pieces, LENGTH)));
        }

        assertThat(LONGEST_KEY.get()).isBetween(1L, 64L);
        assertThat(meters.getMeters())
                .flatExtracting(meter -> meter.getId().getTags())
                .allSatisfy(tag -> assertThat(tag.getValue()).hasSizeLessThan(200));
        assertThat(output.getAll().lines().filter(line -> !line.contains("ResourceHandlerUtils")))
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(LENGTH / 2));
    }
}
