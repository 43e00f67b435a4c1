package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.autoconfigure.RateLimitWithoutStackAutoConfiguration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.service.annotation.PostExchange;

/** Limits of methods that cannot work stop the start, and the message says why and what to write instead. */
@ExtendWith(OutputCaptureExtension.class)
class MethodMistakesTest {

    record Login(String username) {}

    interface Sending {
        void other();
    }

    static class PrivateMethod {
        @RateLimited("1/second")
        @SuppressWarnings("UnusedMethod")
        private void send() {}
    }

    static class FinalMethod {
        @RateLimited("1/second")
        public final void send() {}
    }

    @RateLimited("1/second")
    static class FinalMethodOfClass {
        public final void send() {}

        public void other() {}
    }

    static final class FinalClass {
        @RateLimited("1/second")
        public void send() {}
    }

    static class NotInTheInterface implements Sending {
        @RateLimited("1/second")
        public void send() {}

        @Override
        public void other() {}
    }

    @RateLimited("1/second")
    static class NothingPublic {
        void send() {}
    }

    static class ExemptFromNothing {
        @RateLimitExempt
        public void send() {}
    }

    static class UnknownParameter {
        @RateLimited(value = "1/second", key = "#number")
        public void send(String to) {}
    }

    static class UnknownMember {
        @RateLimited(value = "1/second", key = "#login.usernme")
        public void send(Login login) {}
    }

    static class NameOfTheRequest {
        @RateLimited(value = "1/second", key = "#ip")
        public void send(String ip) {}
    }

    static class PathVariableOfNothing {
        @RateLimited(value = "1/second", key = "path:id")
        public void send(String id) {}
    }

    static class CostAndPermits {
        @RateLimited(value = "9/second", cost = "#text.length()", permits = 2)
        public void send(String text) {}
    }

    static class CostWithoutExpression {
        @RateLimited(value = "9/second", cost = "2")
        public void send(String text) {}
    }

    static class PolicyByStatus {
        @RateLimited(policy = "failures")
        public void send(Login login) {}
    }

    static class PolicyWithoutItsParameter {
        @RateLimited(policy = "failures")
        public void send(Login other) {}
    }

    static class NoFallback {
        @RateLimited(value = "1/second", fallback = "latr")
        public void send(String to) {}

        void later(String to) {}
    }

    static class FallbackWithOtherParameters {
        @RateLimited(value = "1/second", fallback = "later")
        public void send(String to) {}

        void later(int to) {}
    }

    static class FallbackWithAnotherResult {
        @RateLimited(value = "1/second", fallback = "later")
        public String send(String to) {
            return to;
        }

        List<String> later(String to) {
            return List.of(to);
        }
    }

    static class TwoFallbacks {
        @RateLimited(value = "1/second", fallback = "a")
        @RateLimited(value = "9/minute", fallback = "b")
        public void send() {}

        void a() {}

        void b() {}
    }

    @RestController
    static class PrivateHandler {
        @PostMapping("/")
        @RateLimited(value = "1/second", key = "#login.username")
        @SuppressWarnings("UnusedMethod")
        private String handle(@RequestBody Login login) {
            return login.username();
        }
    }

    @RestController
    static final class FinalController {
        @PostMapping("/")
        @RateLimited(value = "1/second", key = "#login.username")
        String handle(@RequestBody Login login) {
            return login.username();
        }
    }

    @RestController
    static final class FinalControllerWithoutArguments {
        @PostMapping("/")
        @RateLimited(value = "1/second", key = "#request.method")
        String handle(@RequestBody Login login) {
            return login.username();
        }
    }

    interface Api {
        @PostExchange("/login")
        String login(@RequestBody Login login);
    }

    @RestController
    static class OfAnExchange implements Api {
        @Override
        @RateLimited(value = "1/second", key = "#a0.username")
        public String login(Login login) {
            return login.username();
        }
    }

    private final WebApplicationContextRunner runner =
            new WebApplicationContextRunner().withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class));

    static Stream<Arguments> mistakes() {
        return Stream.of(
                arguments(PrivateMethod.class, "PrivateMethod.send(): it has no effect: calls of a private or static"),
                arguments(FinalMethod.class, "FinalMethod.send(): calls of a final method cannot be limited"),
                arguments(FinalMethodOfClass.class, "FinalMethodOfClass.send(): calls of a final method"),
                arguments(FinalClass.class, "FinalClass: calls of a final class cannot be limited; remove final"),
                arguments(NothingPublic.class, "NothingPublic: it has no effect: this class has no public methods"),
                arguments(ExemptFromNothing.class, "ExemptFromNothing.send(): it has no effect: without @RateLimited"),
                arguments(
                        UnknownParameter.class,
                        "there is no #number; use #request, #principal, #ip or a parameter: #to"),
                arguments(UnknownMember.class, "#login has no property usernme; did you mean username?"),
                arguments(NameOfTheRequest.class, "#ip is that of the current request, and this method has a param"),
                arguments(PathVariableOfNothing.class, "the key by path:id has a path variable, but this method"),
                arguments(CostAndPermits.class, "it has both permits and cost; write one of the two"),
                arguments(
                        CostWithoutExpression.class, "cost '2' is not an expression that starts with #; write permits"),
                arguments(PolicyByStatus.class, "policy 'failures' has count or free, but a call of this method"),
                arguments(
                        PolicyWithoutItsParameter.class,
                        "has the key by #login.username, but this method has no parameter #login, only #other"),
                arguments(NoFallback.class, "'latr' (did you mean 'later'?) is not a method of NoFallback"),
                arguments(FallbackWithOtherParameters.class, "'later' has other parameters; write later(String),"),
                arguments(FallbackWithAnotherResult.class, "'later' returns List; it must return String"),
                arguments(TwoFallbacks.class, "the fallbacks [a, b] differ"),
                arguments(PrivateHandler.class, "PrivateHandler.handle(): calls of a private method cannot be"),
                arguments(FinalController.class, "FinalController: calls of a final class cannot be limited"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void methodThatCannotBeLimited_stopsTheStart(Class<?> bean, String message) {
        runner.withPropertyValues(
                        "ratelimit.policies.failures.limit=1/second",
                        "ratelimit.policies.failures.key=#login.username",
                        "ratelimit.policies.failures.free=2xx",
                        "ratelimit.policies.failures.match.annotated=true")
                .withUserConfiguration(bean)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(
                                Objects.requireNonNull(context.getStartupFailure())))
                        .isInstanceOf(RateLimitConfigurationException.class)
                        .hasMessageContaining(message));
    }

    @RestController
    static class Orders {
        @PostMapping("/a")
        @RateLimited(policy = "x")
        void a() {}

        @PostMapping({"/b", "/c"})
        @RateLimited("5")
        void b() {}

        @RateLimited("1/second")
        void helper() {}
    }

    @Test
    void mistakes_ofControllersAndOtherBeans_areReportedTogether_oneForEachMethod() {
        runner.withUserConfiguration(Orders.class, PrivateMethod.class, FinalMethod.class, UnknownParameter.class)
                .run(context -> {
                    assertThat(mistaken(Objects.requireNonNull(context.getStartupFailure())))
                            .containsExactlyInAnyOrder(
                                    "the annotation on Orders.helper()",
                                    "the annotation on PrivateMethod.send()",
                                    "@RateLimited on Orders.a()",
                                    "@RateLimited on Orders.b()",
                                    "@RateLimited on FinalMethod.send()",
                                    "@RateLimited on UnknownParameter.send()");
                });
    }

    static class Overloaded {
        @RateLimited(value = "1/second", key = "#number")
        public void send(String to) {}

        @RateLimited(value = "1/second", key = "#number")
        public void send(Login to) {}
    }

    static class Elsewhere {
        static class UnknownParameter {
            @RateLimited(value = "1/second", key = "#number")
            public void send(String to) {}
        }
    }

    @RateLimited("5/minute")
    @RateLimitExempt
    @RestController
    static class ExemptAndLimited {
        @PostMapping("/e")
        void a() {}

        @PostMapping("/f")
        void b() {}
    }

    private static Stream<String> mistaken(Throwable failure) {
        Throwable first = NestedExceptionUtils.getMostSpecificCause(failure);
        return Stream.concat(Stream.of(first), Stream.of(first.getSuppressed()))
                .map(mistake -> ((RateLimitConfigurationException) mistake).where());
    }

    @Test
    void mistakes_ofOverloadsAndOfClassesWithTheSameName_areAllReported() {
        runner.withUserConfiguration(
                        Overloaded.class,
                        UnknownParameter.class,
                        Elsewhere.UnknownParameter.class,
                        ExemptAndLimited.class,
                        FinalClass.class,
                        FinalController.class)
                .run(context -> assertThat(mistaken(Objects.requireNonNull(context.getStartupFailure())))
                        .containsExactlyInAnyOrder(
                                "@RateLimited on Overloaded.send(String)",
                                "@RateLimited on Overloaded.send(Login)",
                                "@RateLimited on UnknownParameter.send()",
                                "@RateLimited on " + Elsewhere.UnknownParameter.class.getName() + ".send()",
                                "@RateLimitExempt on ExemptAndLimited",
                                "@RateLimited on FinalClass",
                                "@RateLimited on FinalController"));
    }

    @Test
    void finalClass_ofABeanThatIsCreatedAfterTheStart_isToldThen() {
        runner.withBean(FinalClass.class, FinalClass::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThatThrownBy(() -> context.getBean(FinalClass.class))
                            .rootCause()
                            .hasMessageContaining("calls of a final class cannot be limited");
                });
    }

    @Test
    void applicationWithoutWeb_isTold(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitWithoutStackAutoConfiguration.class))
                .withUserConfiguration(NotInTheInterface.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("this is not a web application, so @RateLimited limits nothing");
    }

    @Test
    void methodThatIsNotInTheInterface_ofAProxyOfInterfaces_stopsTheStart() {
        runner.withUserConfiguration(NotInTheInterface.class)
                .run(context -> assertThat(context).hasNotFailed());
        runner.withUserConfiguration(NotInTheInterface.class)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("NotInTheInterface.send(): only calls by the bean's interfaces"));
    }

    @Test
    void annotationOnAClassThatIsKnownTooLate_stopsTheStart_unlessAPolicyTurnsLimitsOn() {
        runner.withBean("hidden", Sending.class, NotInTheInterface::new)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining(
                                "@RateLimited on NotInTheInterface: it has no effect: the class of this"));
        runner.withBean("hidden", Sending.class, NotInTheInterface::new)
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withBean("hidden", Sending.class, NotInTheInterface::new)
                .withPropertyValues("ratelimit.policies.any.limit=1/second")
                .run(context -> {
                    NotInTheInterface bean = (NotInTheInterface) context.getBean(Sending.class);
                    bean.send();
                    assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(bean::send);
                });
    }

    @Test
    void controllerOfAnExchangeInterface_canBeLimitedByArguments() {
        runner.withUserConfiguration(OfAnExchange.class)
                .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Api.class)))
                        .isTrue());
    }

    @Test
    void controllerWithoutLimitsByArguments_getsNoProxy() {
        runner.withUserConfiguration(FinalControllerWithoutArguments.class)
                .run(context -> assertThat(context.getBean(FinalControllerWithoutArguments.class))
                        .hasSameClassAs(new FinalControllerWithoutArguments()));
    }

    @Test
    void mistakes_ofLimitsThatAreDisabled_areNone() {
        runner.withUserConfiguration(FinalClass.class)
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }
}
