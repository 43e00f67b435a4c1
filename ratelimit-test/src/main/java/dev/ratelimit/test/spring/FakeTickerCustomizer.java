package dev.ratelimit.test.spring;

import dev.ratelimit.test.FakeTicker;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Adds the ticker to a context. All are equal, because a context is shared by the tests whose customizers are. */
record FakeTickerCustomizer() implements ContextCustomizer {

    static final String TICKER = "dev.ratelimit.test.fakeTicker";

    private static final String STORE_TYPE = "ratelimit.store.type";

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
        RootBeanDefinition ticker = new RootBeanDefinition(FakeTicker.class);
        ticker.setPrimary(true);
        ((BeanDefinitionRegistry) context.getBeanFactory()).registerBeanDefinition(TICKER, ticker);
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("@WithFakeTicker", Map.of(STORE_TYPE, "memory")));
    }

    /** Finds the annotation. */
    static final class Factory implements ContextCustomizerFactory {

        @Override
        public @Nullable ContextCustomizer createContextCustomizer(
                Class<?> test, List<ContextConfigurationAttributes> attributes) {
            return TestContextAnnotationUtils.hasAnnotation(test, WithFakeTicker.class)
                    ? new FakeTickerCustomizer()
                    : null;
        }
    }
}
