package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

/** {@code @RateLimited} on methods of beans, outside of requests. */
class MethodLimitsTest {

    record Mail(String to, List<String> attachments) {}

    interface Sender<T> {

        @RateLimited("1/hour")
        void deliver(T what);
    }

    static class Mails implements Sender<Mail> {

        private int sent;

        int sent() {
            return sent;
        }

        @RateLimited("2/minute")
        public void send() {
            sent++;
        }

        @RateLimited(value = "2/minute", key = "#mail.to")
        public void sendTo(Mail mail) {
            sent++;
        }

        @RateLimited(value = "10/hour", cost = "#p1.attachments.size() + 1", key = "#a0")
        public void sendAs(String tenant, Mail mail) {
            sent++;
        }

        @RateLimited("3/minute")
        @RateLimited(value = "1/minute", key = "#to")
        public void sendBoth(String to) {
            sent++;
        }

        @RateLimited(policy = "mails", permits = 5)
        public void sendUnder() {
            sent++;
        }

        @RateLimited(value = "${mails.limit}", name = "mails by placeholder")
        void sendPackagePrivate() {
            sent++;
        }

        @RateLimited(value = "1/minute", mode = Mode.OFF)
        public void sendOff() {
            sent++;
        }

        @RateLimited(value = "1/minute", fallback = "later")
        public String sendOr(String to) {
            return "sent to " + to;
        }

        String later(String to, RateLimitExceededException refusal) {
            return "later to " + to + " because of " + refusal.violatedPolicies();
        }

        @RateLimited("2/minute")
        public void sendItself() {
            send();
        }

        @Override
        public void deliver(Mail what) {
            sent++;
        }
    }

    @RateLimited("1/hour")
    static class OfClass {

        public void a() {}

        public void b() {}

        @RateLimited("2/hour")
        public void own() {}

        @RateLimitExempt
        public void exempt() {}

        void notPublic() {}

        @Override
        public String toString() {
            return "of class";
        }
    }

    interface Client {

        @RateLimited("1/hour")
        String get();

        String other();
    }

    static class Later {

        @Async
        @RateLimited("1/hour")
        public CompletableFuture<String> run() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Beans {

        @Bean
        FakeTicker ticker() {
            return new FakeTicker();
        }

        @Bean
        SimpleMeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        Mails mails() {
            return new Mails();
        }

        @Bean
        OfClass ofClass() {
            return new OfClass();
        }

        @Bean
        Later later() {
            return new Later();
        }

        @Bean
        SimpleAsyncTaskExecutor taskExecutor() {
            return new SimpleAsyncTaskExecutor("async");
        }

        @Bean
        Client client() {
            return (Client) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Client.class}, (proxy, method, arguments) -> "got");
        }
    }

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
            .withUserConfiguration(Beans.class)
            .withPropertyValues(
                    "mails.limit=1/minute",
                    "ratelimit.policies.mails.limit=10/hour",
                    "ratelimit.policies.mails.key=user",
                    "ratelimit.policies.mails.match.annotated=true");

    private static int admitted(Runnable call) {
        int admitted = 0;
        while (admitted < 20) {
            try {
                call.run();
            } catch (RateLimitExceededException e) {
                return admitted;
            }
            admitted++;
        }
        return admitted;
    }

    private static RateLimitExceededException refusal(ThrowingCallable call) {
        return assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(call)
                .actual();
    }

    @Test
    void call_beyondTheLimit_isRefusedBeforeTheMethod() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            FakeTicker ticker = context.getBean(FakeTicker.class);

            assertThat(admitted(mails::send)).isEqualTo(2);
            RateLimitExceededException refusal = refusal(mails::send);
            ticker.advance(Duration.ofSeconds(30));

            assertThat(refusal.violatedPolicies()).containsExactly("Mails.send");
            assertThat(refusal.retryAfter()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(31));
            assertThat(refusal).hasMessageStartingWith("Limit 'Mails.send' of 2 per minute is exceeded.");
            assertThat(admitted(mails::send)).isEqualTo(1);
            SimpleMeterRegistry meters = context.getBean(SimpleMeterRegistry.class);
            assertThat(meters.get("ratelimit.requests")
                            .tags("policy", "Mails.send", "outcome", "admitted")
                            .counter()
                            .count())
                    .isEqualTo(3);
            assertThat(meters.get("ratelimit.requests")
                            .tags("policy", "Mails.send", "outcome", "refused")
                            .counter()
                            .count())
                    .isEqualTo(3);
        });
    }

    @Test
    void key_andCost_dependOnArguments() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            Mail two = new Mail("alice", List.of("a", "b"));

            assertThat(admitted(() -> mails.sendTo(two))).isEqualTo(2);
            assertThat(admitted(() -> mails.sendTo(new Mail("bob", List.of())))).isEqualTo(2);
            assertThat(admitted(() -> mails.sendAs("acme", two))).isEqualTo(3);
            assertThat(admitted(() -> mails.sendAs("acme", new Mail("alice", List.of()))))
                    .isEqualTo(1);
            assertThat(admitted(() -> mails.sendAs("other", two))).isEqualTo(3);
        });
    }

    @Test
    void severalLimits_areChargedTogetherOrNotAtAll() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);

            assertThat(admitted(() -> mails.sendBoth("alice"))).isEqualTo(1);
            assertThat(admitted(() -> mails.sendBoth("bob"))).isEqualTo(1);
            // the refused calls have cost nothing
            assertThat(admitted(() -> mails.sendBoth("carol"))).isEqualTo(1);
            assertThat(refusal(() -> mails.sendBoth("dave")).violatedPolicies()).containsExactly("Mails.sendBoth");
        });
    }

    @Test
    void policy_placeholders_andVisibility() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);

            assertThat(admitted(mails::sendUnder)).isEqualTo(2);
            assertThat(admitted(mails::sendPackagePrivate)).isEqualTo(1);
            assertThat(refusal(mails::sendPackagePrivate).violatedPolicies()).containsExactly("mails by placeholder");
            assertThat(admitted(mails::sendOff)).isEqualTo(20);
        });
    }

    @Test
    void callWithinTheObject_isNotLimited() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);

            assertThat(admitted(mails::send)).isEqualTo(2);
            assertThat(admitted(mails::sendItself)).isEqualTo(2);
        });
    }

    @Test
    void fallback_isCalledInstead() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);

            assertThat(mails.sendOr("alice")).isEqualTo("sent to alice");
            assertThat(mails.sendOr("bob")).isEqualTo("later to bob because of [Mails.sendOr]");
        });
    }

    @Test
    void annotationOnAGenericInterface_isChargedOncePerCall() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            Sender<Mail> sender = mails;
            Mail mail = new Mail("alice", List.of());

            sender.deliver(mail);

            assertThat(mails.sent()).isEqualTo(1);
            assertThat(refusal(() -> mails.deliver(mail)).violatedPolicies()).containsExactly("Mails.deliver");
            refusal(() -> sender.deliver(mail));
        });
    }

    @Test
    void annotationOnClass_limitsEachPublicMethod() {
        runner.run(context -> {
            OfClass bean = context.getBean(OfClass.class);

            assertThat(admitted(bean::a)).isEqualTo(1);
            assertThat(admitted(bean::b)).isEqualTo(1);
            assertThat(admitted(bean::own)).isEqualTo(2);
            assertThat(admitted(bean::exempt)).isEqualTo(20);
            assertThat(admitted(bean::notPublic)).isEqualTo(20);
            assertThat(admitted(bean::toString)).isEqualTo(20);
        });
    }

    @Test
    void annotationOnTheInterfaceOfAClient_limitsItsCalls() {
        runner.run(context -> {
            Client client = context.getBean(Client.class);

            assertThat(admitted(client::get)).isEqualTo(1);
            assertThat(admitted(client::other)).isEqualTo(20);
            assertThat(refusal(client::get).violatedPolicies()).containsExactly("Client.get");
        });
    }

    @Test
    void asynchronousMethod_isChargedInTheCallingThread() {
        runner.run(context -> {
            Later later = context.getBean(Later.class);

            assertThat(later.run().join()).startsWith("async");
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(later::run);
        });
    }

    @Test
    void user_isThePrincipalOfTheSecurityContext_ifThereIsOne() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);

            assertThat(admitted(mails::send)).isEqualTo(2);
            SecurityContextHolder.getContext()
                    .setAuthentication(UsernamePasswordAuthenticationToken.authenticated("alice", "", List.of()));
            try {
                assertThat(admitted(mails::send)).isEqualTo(2);
            } finally {
                SecurityContextHolder.clearContext();
            }
        });
    }
}
