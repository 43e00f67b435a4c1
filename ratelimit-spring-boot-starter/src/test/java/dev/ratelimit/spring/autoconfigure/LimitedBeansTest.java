package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans whose annotations are easily overlooked. */
class LimitedBeansTest {

    interface Sender<T> {

        @RateLimited("2/hour")
        void send(T what);
    }

    static class ForAnything<T> {
        public void send(T what) {}
    }

    static class ForText {
        public void send(String what) {}
    }

    static class OfAnything extends ForAnything<String> implements Sender<String> {}

    static class OfText extends ForText implements Sender<String> {}

    static class Own implements Sender<String> {
        @Override
        public void send(String what) {}
    }

    /** Not on the class path of {@link Incomplete}, in the test below. */
    static class Missing {}

    static class Incomplete {
        public void use(Missing missing) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Proxied {
        @Bean
        @SuppressWarnings("unchecked")
        Sender<String> sender() {
            return (Sender<String>) new ProxyFactory(new Own()).getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Lambda {
        @Bean
        Sender<String> sender() {
            return what -> {};
        }
    }

    /** Loads {@link Incomplete} by itself. */
    private static final class Loader extends ClassLoader {

        Loader() {
            super(LimitedBeansTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals(Missing.class.getName())) {
                throw new ClassNotFoundException(name);
            }
            if (!name.equals(Incomplete.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }

        private Class<?> define(String name) {
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = file.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final WebApplicationContextRunner runner =
            new WebApplicationContextRunner().withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class));

    private static void assertLimited(Sender<String> sender) {
        sender.send("");
        sender.send("");
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> sender.send(""));
    }

    @ParameterizedTest
    @DisplayName("a method that implements an interface only in a subclass has the interface's limit")
    @ValueSource(classes = {OfAnything.class, OfText.class, Own.class})
    @SuppressWarnings("unchecked")
    void call_methodInheritedBesideTheInterface_isLimited(Class<? extends Sender<String>> type) {
        runner.withBean(type).run(context -> assertLimited(context.getBean(Sender.class)));
    }

    @Test
    @DisplayName("calls of a proxy that the application has made are limited")
    @SuppressWarnings("unchecked")
    void call_ofAProxyOfTheApplication_isLimited() {
        runner.withUserConfiguration(Proxied.class).run(context -> assertLimited(context.getBean(Sender.class)));
    }

    @Test
    @DisplayName("a lambda cannot be limited by a subclass, and the mistake says so")
    void start_lambda_saysThatItCannotBeLimited() {
        runner.withUserConfiguration(Lambda.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("calls of a lambda cannot be limited; write a class"));
    }

    @Test
    @DisplayName("a lambda is limited by its interface, as the mistake proposes")
    @SuppressWarnings("unchecked")
    void call_ofALambdaBehindItsInterface_isLimited() {
        runner.withUserConfiguration(Lambda.class)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> assertLimited(context.getBean(Sender.class)));
    }

    @ParameterizedTest
    @DisplayName("an annotated object that is registered as it is stops the start, with other limits and without")
    @ValueSource(strings = {"ratelimit.policies.all.limit=9/s", "x=y"})
    void start_annotatedObject_saysThatItCannotBeLimited(String property) {
        runner.withInitializer(context -> context.getBeanFactory().registerSingleton("own", new Own()))
                .withPropertyValues(property)
                .run(context -> assertThat(context)
                        .hasFailed()
                        .getFailure()
                        .hasMessageContaining("Own.send()")
                        .hasMessageContaining("registered as an object"));
    }

    @ParameterizedTest
    @DisplayName("an unused bean of a class that cannot be read does not stop the start")
    @ValueSource(strings = {"ratelimit.policies.all.limit=9/s", "x=y"})
    void start_unusedBeanOfAnIncompleteClass_starts(String property) throws ClassNotFoundException {
        Class<?> incomplete = new Loader().loadClass(Incomplete.class.getName());
        runner.withInitializer(context -> ((BeanDefinitionRegistry) context.getBeanFactory())
                        .registerBeanDefinition(
                                "incomplete",
                                BeanDefinitionBuilder.genericBeanDefinition(incomplete)
                                        .setLazyInit(true)
                                        .getBeanDefinition()))
                .withPropertyValues(property)
                .run(context -> assertThat(context).hasNotFailed());
    }
}
