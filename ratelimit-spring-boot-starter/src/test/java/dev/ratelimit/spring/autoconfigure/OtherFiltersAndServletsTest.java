package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.HiddenHttpMethodFilter;
import org.springframework.web.servlet.DispatcherServlet;

/** Filters and servlets of the application that bypass rate limits are logged at start-up. */
@ExtendWith(OutputCaptureExtension.class)
class OtherFiltersAndServletsTest {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.policies.a.limit=5/second");

    private static FilterRegistrationBean<HiddenHttpMethodFilter> methodFilter(int order) {
        FilterRegistrationBean<HiddenHttpMethodFilter> filter =
                new FilterRegistrationBean<>(new HiddenHttpMethodFilter());
        filter.setOrder(order);
        return filter;
    }

    @Test
    void methodFilter_afterTheLimits_isWarnedOf(CapturedOutput output) {
        runner.withBean(HiddenHttpMethodFilter.class)
                .run(context ->
                        assertThat(output).contains("A HiddenHttpMethodFilter changes the methods of requests"));
    }

    @Test
    void methodFilter_registeredAfterTheLimits_isWarnedOf(CapturedOutput output) {
        runner.withBean(FilterRegistrationBean.class, () -> methodFilter(0))
                .run(context ->
                        assertThat(output).contains("A HiddenHttpMethodFilter changes the methods of requests"));
    }

    @Test
    void methodFilter_beforeTheLimits_isFine(CapturedOutput output) {
        runner.withBean(FilterRegistrationBean.class, () -> methodFilter(-111))
                .withPropertyValues("spring.mvc.hiddenmethod.filter.enabled=true")
                .run(context -> {
                    assertThat(context).hasSingleBean(HiddenHttpMethodFilter.class);
                    assertThat(output).doesNotContain("A HiddenHttpMethodFilter changes");
                });
    }

    @ParameterizedTest
    @CsvSource({"-100, -91, false", "-100, -90, true", "-200, -191, false", "-200, -111, true", "0, 9, false"})
    void methodFilter_isComparedWithTheOrderThatTheLimitsHave(
            int security, int order, boolean warned, CapturedOutput output) {
        runner.withBean(FilterRegistrationBean.class, () -> methodFilter(order))
                .withPropertyValues("spring.security.filter.order=" + security)
                .run(context -> assertThat(output.toString().contains("A HiddenHttpMethodFilter changes"))
                        .isEqualTo(warned));
    }

    @Test
    void methodFilter_beanThatIsRegistered_hasTheOrderOfItsRegistration(CapturedOutput output) {
        FilterRegistrationBean<HiddenHttpMethodFilter> registration = methodFilter(-111);
        runner.withBean(HiddenHttpMethodFilter.class, registration::getFilter)
                .withBean(FilterRegistrationBean.class, () -> registration)
                .run(context -> assertThat(output).doesNotContain("A HiddenHttpMethodFilter changes"));
    }

    @Test
    void otherDispatcher_isWarnedOf(CapturedOutput output) {
        runner.withBean("second", ServletRegistrationBean.class, () -> {
                    ServletRegistrationBean<DispatcherServlet> second = new ServletRegistrationBean<>(
                            new DispatcherServlet(new AnnotationConfigWebApplicationContext()), "/second/*");
                    second.setName("second");
                    return second;
                })
                .run(context -> assertThat(output)
                        .containsOnlyOnce("is a DispatcherServlet with a context of its own")
                        .contains("second urls=[/second/*]"));
    }
}
