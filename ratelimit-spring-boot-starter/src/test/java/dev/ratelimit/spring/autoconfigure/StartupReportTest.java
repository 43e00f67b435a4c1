package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.autoconfigure.RateLimitWithoutStackAutoConfiguration;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.servlet.DispatcherServlet;

/** The log at start-up: what is limited, and warnings about settings that are valid but probably unintended. */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class StartupReportTest {

    private static final AutoConfigurations AUTO =
            OnBoot.webMvc(RateLimitAutoConfiguration.class, RateLimitWithoutStackAutoConfiguration.class);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withConfiguration(AUTO);

    @RestController
    static class Pages {

        @GetMapping("/")
        @RateLimited("1/second")
        String page() {
            return helper();
        }

        @RateLimited("1/second")
        private String helper() {
            return "";
        }
    }

    @Service
    static class Mails {

        @RateLimited("1/second")
        public final void send() {}
    }

    @Service
    @RateLimitExempt
    static class Exempt {}

    @Test
    void changes_byAnybody_areWarnedOf(CapturedOutput output) {
        String warning = "Anybody who reaches the ratelimits endpoint of the actuator can change every rate limit";
        WebApplicationContextRunner exposed = OnBoot.withServer()
                .withConfiguration(AUTO)
                .withInitializer(
                        context -> context.getEnvironment().setConversionService(new ApplicationConversionService()))
                .withConfiguration(
                        AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class))
                .withPropertyValues(
                        "server.port=0",
                        "ratelimit.policies.a.limit=5/second",
                        "management.endpoints.web.exposure.include=ratelimits");
        WebApplicationContextRunner writable =
                exposed.withPropertyValues("management.endpoint.ratelimits.access=unrestricted");

        exposed.run(context -> assertThat(context).hasNotFailed());
        writable.withConfiguration(OnBoot.security())
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain(warning);

        writable.run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce(warning);
    }

    @Test
    void stage_ofCallsOfMethods_isNotShown(CapturedOutput output) {
        runner.withConfiguration(OnBoot.security())
                .withUserConfiguration(Sender.class)
                .withPropertyValues(
                        "ratelimit.policies.backend.limit=5/second",
                        "ratelimit.policies.backend.match.annotated=true",
                        "ratelimit.policies.all.limit=5/second")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsPattern("Rate limit 'all': .*, before Spring Security")
                .containsPattern("Rate limit 'backend': .*")
                .containsPattern("Rate limit 'Sender.own': .*")
                .doesNotContainPattern("Rate limit '(backend|Sender.own)': .* Spring Security");
    }

    @Service
    static class Sender {

        @RateLimited(policy = "backend")
        public void send() {}

        @RateLimited(value = "1/second", key = "ip")
        public void own() {}
    }

    @Test
    void memory_ofConcurrencyLimits_namesThem(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.a.concurrency=5", "ratelimit.policies.a.key=ip")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("if every limit reaches max-keys; concurrency limits add 8 bytes per permit in use")
                .doesNotContain("sliding logs");
    }

    @Test
    void memory_ofAllPolicies_isLogged(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.a.limit=5/second",
                        "ratelimit.policies.a.key=ip",
                        "ratelimit.policies.b.limit=5/second",
                        "ratelimit.policies.b.algorithm=sliding-log",
                        "ratelimit.policies.b.max-keys=1000")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsPattern("Rate limits use at most 2[0-9] MB of memory if every limit reaches max-keys; sliding"
                        + " logs add 8 bytes");
    }

    @ParameterizedTest
    @MethodSource("withoutEffect")
    @DisplayName("F7 an annotation on a method that handles no requests stops the start, by name")
    void annotation_withoutEffect_stopsTheStart(Class<?> bean, String report) {
        for (String policy : List.of("ratelimit.policies.a.limit=5/second", "ratelimit.headers=draft")) {
            runner.withPropertyValues(policy)
                    .withUserConfiguration(bean)
                    .run(context -> assertThat(context).getFailure().hasMessageContaining(report));
        }
    }

    static Stream<Arguments> withoutEffect() {
        return Stream.of(
                arguments(Pages.class, "the annotation on Pages.helper(): it has no effect"),
                arguments(
                        Mails.class,
                        "@RateLimited on Mails.send(): calls of a final method cannot be limited; remove final"),
                arguments(Exempt.class, "the annotation on Exempt: it has no effect"));
    }

    interface MailApi {

        @RateLimited("1/second")
        void send();
    }

    @Configuration(proxyBeanMethods = false)
    static class MailClient {

        @Bean
        MailApi mails() {
            return (MailApi) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {MailApi.class}, (proxy, method, arguments) -> null);
        }
    }

    @Test
    void annotation_onAnInterfaceThatAClientShares_isNoMistake() {
        runner.withUserConfiguration(MailClient.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class MailService implements MailApi {

        @Override
        public void send() {}
    }

    abstract static class MailBase {

        @RateLimited("1/second")
        public void send() {}
    }

    static class DerivedMails extends MailBase {}

    @ParameterizedTest
    @ValueSource(classes = {MailService.class, DerivedMails.class})
    void annotation_thatABeanInherits_isNoMistake(Class<?> bean) {
        runner.withUserConfiguration(bean).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void policies_allOff_areLogged(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", "ratelimit.policies.api.mode=off")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("No rate limits: every policy has mode: off");
    }

    @RestController
    static class Off {

        @GetMapping("/")
        @RateLimited(value = "1/second", name = "inline", mode = Mode.OFF)
        @RateLimited(policy = "on", mode = Mode.OFF)
        String page() {
            return "";
        }
    }

    @Test
    void policies_thatAreOff_areLoggedAsOff(CapturedOutput output) {
        runner.withUserConfiguration(Off.class)
                .withPropertyValues(
                        "ratelimit.policies.on.limit=1/second",
                        "ratelimit.policies.api.limit=5/second",
                        "ratelimit.policies.api.concurrency=2",
                        "ratelimit.policies.api.mode=off")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Rate limit 'on': 1/second (token-bucket) shared by all callers, on all paths")
                .containsOnlyOnce(
                        "Rate limit 'api': 5/second (token-bucket) shared by all callers, on all paths, but it"
                                + " has mode: off")
                .containsOnlyOnce("Rate limit 'api/concurrency': 2")
                .containsOnlyOnce("Rate limit 'inline': 1/second (token-bucket)")
                .containsPattern("'inline': .* where annotated, but it has mode: off")
                .doesNotContain("WARN");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.api=${UNSET}",
                "ratelimit.policies.api.key=",
                "ratelimit.policies.limit=1/second",
                "ratelimit.policies.api.limit=1"
            })
    void mistake_disabled_doesNotStopTheStart(String mistake) {
        runner.withPropertyValues(mistake, "ratelimit.enabled=false")
                .withUserConfiguration(Mails.class)
                .run(context -> assertThat(context).hasNotFailed());
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues(mistake, "ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.trusted-proxies=0.0.0.0/0 | 0.0.0.0/0 is every address, so anyone can choose their client address",
                "ratelimit.trusted-proxies=::/0 | ::/0 is every address, so anyone can choose their client address",
                "ratelimit.trusted-proxies=0.0.0.0/1, 128.0.0.0/1 | 0.0.0.0/1, 128.0.0.0/1 together are every address, so anyone can choose their client address",
                "ratelimit.trusted-proxies=10.0.0.0/8 | Set ratelimit.forwarded-header to the one that your proxies write",
                "server.forward-headers-strategy=framework | without trusted proxies, rate limits ignore X-Forwarded-For",
                "server.forward-headers-strategy=native | The container applies X-Forwarded-For from every private address",
                "spring.main.cloud-platform=kubernetes | The container applies X-Forwarded-For from every private address",
                "server.tomcat.remoteip.remote-ip-header=x-forwarded-for | server.tomcat.remoteip.remote-ip-header is set, so Tomcat",
                "server.tomcat.remoteip.protocol-header=x-forwarded-proto | server.tomcat.remoteip.protocol-header is set, so Tomcat",
                "ratelimit.policies.api.permits=0 | it limits nothing",
                "ratelimit.policies.api.match.paths=/login/ | /login/ does not match the path without the slash at its end",
                "ratelimit.policies.api.match.except-paths=/e** | the ** in /e** matches within one segment only; write /**",
                "ratelimit.exempt.paths=/health/ | ratelimit.exempt.paths: /health/ does not match the path without",
                "ratelimit.policies.api.match.annotated=true | no @RateLimited names it, so it limits nothing",
                "ratelimit.policies.api.match.except-paths=/** | whose except-paths cover all its paths: it limits nothing",
                "ratelimit.policies.api.match.except-paths=/{*all} | whose except-paths cover all its paths: it limits nothing",
                "ratelimit.exempt.paths=/** | ratelimit.exempt.paths: /** is every path, so nothing is limited",
                "ratelimit.exempt.paths=/{*all} | ratelimit.exempt.paths: /{*all} is every path, so nothing is limited",
                "ratelimit.exempt.when=true | ratelimit.exempt.when: true is always true, so nothing is limited",
                "ratelimit.exempt.when=#request.getHeader('X-Probe') == 'yes' | depends only on what clients send",
                "ratelimit.exempt.addresses=0.0.0.0/0 | 0.0.0.0/0 is every address, so nobody is limited",
                "ratelimit.exempt.addresses=8000::/1, ::/1 | 0::/1, 8000::/1 together are every address, so nobody is limited",
                "ratelimit.forwarded-header=x-forwarded-for | ratelimit.forwarded-header has no effect without ratelimit.trusted-proxies",
                "ratelimit.exempt.keys=monitor | ratelimit.exempt.keys: no key can be 'monitor', as no policy has a key, so nobody is exempt",
                "ratelimit.policies.api.missing-key=skip | Rate limit 'api' has no key, so missing-key: skip has no effect",
                "ratelimit.policies.api.key=header:X-Forwarded-For | Rate limit 'api' is by header:x-forwarded-for, which clients can write as they like"
            })
    @DisplayName("F11 a setting that is probably unintended causes a warning")
    void setting_probablyUnintended_isWarnedOf(String property, String warning, CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", property)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("WARN").contains(warning);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#request.getHeader('X-Probe') == 'yes' && #ip == '10.0.0.7'",
                "#request.isUserInRole('MONITOR')",
                "#principal?.name == 'monitor'",
                "#request.userPrincipal != null",
                "#request.session != null",
                "#request.getAttribute('monitor') == true"
            })
    void exemptionByMoreThanWhatClientsSend_isNotWarnedOf(String condition, CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", "ratelimit.exempt.when=" + condition)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("WARN");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "user, endpoint | missing-key=reject | Rate limit 'api' is by user, endpoint, which no request lacks, so missing-key: reject has no effect. Write principal in place of user",
                "ip | missing-key=reject | Rate limit 'api' is by ip, which no request lacks, so missing-key: reject has no effect. Remove it",
                "user | overrides[10.0.0.7]=unlimited | Rate limit 'api' has an override for '10.0.0.7', but it is by user, so this is the name of a user",
                "principal | overrides[10.0.0.0/8]=unlimited | Rate limit 'api' has an override for '10.0.0.0/8', but it is by principal",
                "ip, method | exempt.keys=dev-id-1 | no key can be 'dev-id-1', as all keys are of ip, method, so nobody is exempt",
                "ip | overrides[0.0.0.0/0]=unlimited | Rate limit 'api' has overrides or exempt keys without a limit: 0.0.0.0/0 is every address, so it limits nobody",
                "ip, method | exempt.keys=0.0.0.0/1, 128.0.0.0/1 | Rate limit 'api' has overrides or exempt keys without a limit: 0.0.0.0/1, 128.0.0.0/1 together are every address, so it limits nobody",
                "user | exempt.keys=10.0.0.7 | no key can be '10.0.0.7', as all keys are of user, so nobody is exempt. Write addresses to ratelimit.exempt.addresses"
            })
    void key_thatIsProbablyUnintended_isWarnedOf(String key, String property, String warning, CapturedOutput output) {
        startWithKey(key, property);

        assertThat(output).contains("WARN").contains(warning);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "principal | missing-key=reject",
                "user, header:X-Tenant | missing-key=skip",
                "user | missing-key=ip",
                "user | overrides.alice=unlimited",
                "header:CF-Connecting-IP | overrides[10.0.0.7]=unlimited",
                "ip | overrides[10.0.0.7]=unlimited",
                "ip | overrides[0.0.0.0/0]=2/second",
                "ip | exempt.keys=10.0.0.7",
                "header:X-Id | exempt.keys=10.0.0.7",
                "#request.getHeader('X') | exempt.keys=bob",
                "user | exempt.keys=bob"
            })
    void key_thatMayBeIntended_isNotWarnedOf(String key, String property, CapturedOutput output) {
        startWithKey(key, property);

        assertThat(output).doesNotContain("WARN");
    }

    @ParameterizedTest
    @CsvSource({"2/second", "blocked"})
    void overrides_unlimitedButWithinALimit_areNotWarnedOf(String limit, CapturedOutput output) {
        startWithKey("ip", "overrides[0.0.0.0/0]=unlimited", "overrides[10.0.0.0/8]=" + limit);

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void exemptKeys_ofEverybody_areWarnedOfForAnnotations(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.exempt.keys=0.0.0.0/0")
                .withUserConfiguration(ByAddress.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("without a limit: 0.0.0.0/0 is every address, so it limits nobody");
    }

    @RestController
    static class ByAddress {

        @GetMapping("/")
        @RateLimited(value = "1/second", key = "ip")
        String page() {
            return "";
        }
    }

    private void startWithKey(String key, String... properties) {
        String[] whole = Stream.of(properties)
                .map(property -> (property.startsWith("exempt") ? "ratelimit." : "ratelimit.policies.api.") + property)
                .toArray(String[]::new);
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", "ratelimit.policies.api.key=" + key)
                .withPropertyValues(whole)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "10.1.2.0/24"})
    void exemptTrustedProxies_areWarnedOf(String exempt, CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.api.limit=1/second",
                        "ratelimit.trusted-proxies=10.1.2.0/24",
                        "ratelimit.exempt.addresses=198.51.100.0/24, " + exempt)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(exempt + " includes addresses of ratelimit.trusted-proxies")
                .doesNotContain("198.51.100.0/24 includes addresses");
    }

    @Configuration(proxyBeanMethods = false)
    static class ForwardedFirst {

        @Bean
        FilterRegistrationBean<ForwardedHeaderFilter> forwarded() {
            FilterRegistrationBean<ForwardedHeaderFilter> filter =
                    new FilterRegistrationBean<>(new ForwardedHeaderFilter());
            filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return filter;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ForwardedFirstByAnnotation {

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        ForwardedHeaderFilter forwarded() {
            return new ForwardedHeaderFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ForwardedLast {

        @Bean
        ForwardedHeaderFilter forwarded() {
            return new ForwardedHeaderFilter();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {ForwardedFirst.class, ForwardedFirstByAnnotation.class})
    void forwardedHeaderFilter_beforeTheLimits_isWarnedOfOnce(Class<?> filter, CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second")
                .withUserConfiguration(filter)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce("A ForwardedHeaderFilter runs before the rate limits");
    }

    @Test
    void forwardedHeaderFilter_afterTheLimits_isNotWarnedOf(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second")
                .withUserConfiguration(ForwardedLast.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void pathsThatCannotMatch_areWarnedOf(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.a.limit=1/second",
                        "ratelimit.policies.a.match.paths=/ctx/orders/**",
                        "server.servlet.context-path=/ctx")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(
                        "ratelimit.policies.c.limit=1/second",
                        "ratelimit.policies.c.match.paths=/api/orders",
                        "spring.mvc.servlet.path=/api")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(
                        "ratelimit.policies.b.limit=1/second",
                        "ratelimit.policies.b.match.paths=/api/orders, /api/files/**",
                        "ratelimit.policies.b.match.except-paths=/api/**")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("'a'")
                .contains("but paths are relative to the context path /ctx; leave it out")
                .contains("'c'")
                .contains("but paths are relative to the path of Spring MVC's servlet /api; leave it out")
                .contains("'b'")
                .contains("whose except-paths cover all its paths");
    }

    @Test
    void explicitProxies_areNotWarnedOf(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.api.limit=1/second",
                        "ratelimit.trusted-proxies=10.0.0.5/8",
                        "ratelimit.forwarded-header=x-forwarded-for")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(
                        "Rate limits identify clients by the remote address of the connection; behind 10.0.0.0/8, by the one"
                                + " in X-Forwarded-For")
                .doesNotContain("WARN");
    }

    @Test
    @DisplayName("F14 policies of a WebFlux application stop its start: they would limit nothing")
    void webFlux_withPolicies_fails(CapturedOutput output) {
        ReactiveWebApplicationContextRunner reactive =
                new ReactiveWebApplicationContextRunner().withConfiguration(AUTO);

        reactive.withPropertyValues("ratelimit.policies.api.limit=1/second")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining(
                                "this is a WebFlux application, and policies of this starter are for Spring MVC"));
        reactive.withUserConfiguration(Pages.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining(
                                "this is a WebFlux application, and annotations of this starter are for Spring MVC"));
        reactive.run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("No rate limits: this is a WebFlux application");
    }

    @Test
    @DisplayName("F14 an application without a web server or Spring MVC logs that nothing is limited")
    void noSpringMvc_isLogged(CapturedOutput output) {
        String policy = "ratelimit.policies.api.limit=1/second";
        new ApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues(policy)
                .run(context -> assertThat(context).hasNotFailed());
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(policy)
                .withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("policies need a web framework of Spring, which is missing"));

        assertThat(output).contains("No rate limits: this is not a web application");
    }

    /** As in an application with Jersey. */
    @Test
    void annotationWithoutSpringMvc_needsIt() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(Mails.class)
                .withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("annotations need a web framework of Spring, which is missing"));
    }

    @Test
    void disabled_isLogged_andLeavesTheBeans(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", "ratelimit.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(RateLimiter.class)
                        .doesNotHaveBean(RateLimitFilterConfiguration.FILTER));

        assertThat(output).contains("No rate limits: ratelimit.enabled is false");
    }
}
