package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Beans that resolve keys and plans, asked here or before by the web stack. */
@ExtendWith(OutputCaptureExtension.class)
class ResolversTest {

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final Resolvers resolvers = new Resolvers(beans);

    private @Nullable String tenantOf(WebRequest request) {
        return resolvers.key("tenants").valueOf(RecordedRequest.context(request, false));
    }

    @Test
    void valueOf_valueKnownBefore_doesNotAskTheBean() {
        beans.registerSingleton("tenants", (KeyResolver) request -> "asked");
        beans.registerSingleton("tariffs", (PlanResolver) request -> "asked");

        assertThat(tenantOf(new RecordedRequest())).isEqualTo("asked");
        assertThat(tenantOf(new RecordedRequest().resolved("tenants", "known"))).isEqualTo("known");
        assertThat(tenantOf(new RecordedRequest().resolved("tenants", null))).isNull();
        assertThat(tenantOf(new RecordedRequest().resolved("others", "known"))).isEqualTo("asked");
        assertThat(resolvers
                        .onlyPlan()
                        .valueOf(RecordedRequest.context(new RecordedRequest().resolved("tariffs", "pro"), false)))
                .isEqualTo("pro");
    }

    @Test
    void valueOf_askedTwice_isTheFirstAnswer() {
        AtomicInteger calls = new AtomicInteger();
        beans.registerSingleton("tenants", (KeyResolver) request -> calls.incrementAndGet() == 1 ? null : "later");
        Resolver tenants = resolvers.key("tenants");
        RequestContext context = RecordedRequest.context(new RecordedRequest(), false);

        assertThat(tenants.valueOf(context)).isNull();
        assertThat(tenants.valueOf(context)).isNull();
        assertThat(calls).hasValue(1);
        assertThat(tenants.valueOf(context.at(new RecordedRequest().by("alice"))))
                .isEqualTo("later");
    }

    @Test
    void beanThatFailsInAnyWay_hasNoValue() {
        beans.registerSingleton("tenants", (KeyResolver) request -> fail(new IOException("checked")));
        beans.registerSingleton("tariffs", (PlanResolver) request -> fail(new NoClassDefFoundError("missing")));

        assertThat(tenantOf(new RecordedRequest())).isNull();
        assertThat(resolvers.onlyPlan().valueOf(RecordedRequest.context(new RecordedRequest(), false)))
                .isNull();
    }

    /** As Kotlin does. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> String fail(Throwable failure) throws T {
        throw (T) failure;
    }

    /** As a web stack may define it: its values come before, so it is never asked. */
    private interface LaterKeyResolver extends KeyResolver {

        @Override
        default @Nullable String resolve(WebRequest request) {
            throw new IllegalStateException("it was to be asked before");
        }
    }

    @Test
    void key_resolverOfTheWebStack_isOneOfThem() {
        beans.registerSingleton("tenants", new LaterKeyResolver() {});

        assertThat(tenantOf(new RecordedRequest().resolved("tenants", "known"))).isEqualTo("known");
    }

    @Test
    void failures_areLoggedOnceAMinute(CapturedOutput output) {
        FakeTicker ticker = new FakeTicker();
        beans.registerSingleton("ticker", ticker);
        beans.registerSingleton("tariffs", (PlanResolver) request -> {
            throw new IllegalStateException("no table");
        });
        Resolver tariffs = resolvers.onlyPlan();
        Runnable failing = () -> assertThat(tariffs.valueOf(RecordedRequest.context(new RecordedRequest(), false)))
                .isNull();

        failing.run();
        failing.run();
        ticker.advance(Duration.ofSeconds(59));
        failing.run();
        assertThat(output).containsOnlyOnce("Bean 'tariffs' has failed, so 1 request had no value from it;");

        ticker.advance(Duration.ofSeconds(1));
        failing.run();
        assertThat(output).containsOnlyOnce("Bean 'tariffs' has failed, so 3 requests had no value from it;");
        assertThat(output.toString().split("IllegalStateException: no table", -1))
                .hasSize(3);
    }

    /** Has the simple name of the type that is needed, as that of Spring Cloud Gateway has. */
    private static final class Other {

        private interface KeyResolver {}
    }

    @Test
    void key_beanOfAnotherType_namesBothTypesInFull() {
        beans.registerBeanDefinition("tenant", new RootBeanDefinition(Other.KeyResolver.class));
        RootBeanDefinition declared = new RootBeanDefinition(Function.class);
        declared.setInstanceSupplier(() -> (Function<String, String>) text -> text);
        beans.registerBeanDefinition("function", declared);
        beans.registerSingleton("lambda", (Supplier<String>) () -> "");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolvers.key("tenant"))
                .withMessage(
                        "bean 'tenant' is of type dev.ratelimit.spring.rules.key.ResolversTest$Other$KeyResolver, not of type"
                                + " dev.ratelimit.spring.KeyResolver; declare one");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolvers.key("function"))
                .withMessage("bean 'function' is of type java.util.function.Function, not of type"
                        + " dev.ratelimit.spring.KeyResolver; declare one");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolvers.plan("lambda"))
                .withMessage("bean 'lambda' is of type java.util.function.Supplier, not of type"
                        + " dev.ratelimit.spring.PlanResolver; declare one");
    }

    @Test
    void key_unknownBean_isAMistake() {
        beans.registerSingleton("tenants", (KeyResolver) request -> null);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolvers.key("owners"))
                .withMessage("there is no bean 'owners' of type KeyResolver; write tenants");
    }
}
