package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where annotations are looked for. */
class AnnotatedRulesTest {

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited("5/minute")
    @interface Meta {}

    interface OnMethod<T> {
        @RateLimited("5/minute")
        @RateLimited("9/hour")
        void call(T argument);
    }

    interface Inherits extends OnMethod<String>, Serializable {}

    static class Implements implements Inherits {
        @Override
        public void call(String argument) {}
    }

    static class Extends extends Implements {}

    static class OnDefault implements WithDefault {}

    interface WithDefault {
        @Meta
        default void call() {}
    }

    @Meta
    static class OnClass {}

    static class BelowClass extends OnClass implements Callable<String> {
        @Override
        public String call() {
            return "";
        }
    }

    static class OnPrivate {
        @Meta
        @SuppressWarnings("UnusedMethod") // only read
        private void call() {}
    }

    interface OfOthers {

        @RateLimited("5/minute")
        void limited();

        @RateLimitExempt
        void exempt();

        @Meta
        static void same() {}
    }

    static class Apart {
        public void limited() {}

        public void exempt() {}

        public void same() {}
    }

    static class Together extends Apart implements OfOthers {}

    static class Bare implements Callable<String>, Serializable {

        @Override
        public String call() {
            return "";
        }

        @Meta
        static class Nested {}
    }

    @ParameterizedTest
    @DisplayName("an annotation is found on a class, its methods, and those of all its supertypes")
    @ValueSource(
            classes = {
                OnMethod.class,
                Inherits.class,
                Implements.class,
                Extends.class,
                OnDefault.class,
                OnClass.class,
                BelowClass.class,
                OnPrivate.class
            })
    void anyOn_annotatedSomewhere_isFound(Class<?> type) {
        assertThat(AnnotatedRules.anyOn(type)).isTrue();
        // and again, as it is remembered
        assertThat(AnnotatedRules.anyOn(type)).isTrue();
    }

    @Test
    @DisplayName("an annotation is found on the interface of a proxy")
    void anyOn_proxy_isFound() {
        Object proxy = Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Serializable.class, Inherits.class},
                (self, method, args) -> {
                    throw new UnsupportedOperationException();
                });

        assertThat(AnnotatedRules.anyOn(proxy.getClass())).isTrue();
    }

    @ParameterizedTest
    @DisplayName("nothing is found on a class without annotations, even if a nested class has one")
    @ValueSource(classes = {Bare.class, Object.class, Callable.class, String.class, int.class})
    void anyOn_notAnnotated_isNotFound(Class<?> type) {
        assertThat(AnnotatedRules.anyOn(type)).isFalse();
        assertThat(AnnotatedRules.anyOn(type)).isFalse();
    }

    @Test
    @DisplayName("a method has the annotations of an interface that only a subclass of its class has, in that subclass")
    void annotations_ofTheSubclassesInterface_areThoseOfTheMethod() throws NoSuchMethodException {
        Method limited = Apart.class.getMethod("limited");
        Method exempt = Apart.class.getMethod("exempt");

        assertThat(AnnotatedRules.annotations(Together.class, limited)).hasSize(1);
        assertThat(AnnotatedRules.concern(Together.class, limited)).isTrue();
        assertThat(AnnotatedRules.mayLimitCallsOf(Together.class, limited)).isTrue();
        assertThat(AnnotatedRules.exempt(Together.class, exempt)).isTrue();
        assertThat(AnnotatedRules.concern(Together.class, Apart.class.getMethod("same")))
                .isFalse();
        assertThat(AnnotatedRules.concern(Apart.class, limited)).isFalse();
        assertThat(AnnotatedRules.exempt(Apart.class, exempt)).isFalse();
    }
}
