package dev.ratelimit.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;
import org.springframework.util.AntPathMatcher;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.UrlPathHelper;
import org.springframework.web.util.pattern.PathPatternParser;

/** How Spring MVC and Spring Security read paths. */
final class PathOptions {

    private PathOptions() {}

    /** Paths in any case. */
    @Configuration(proxyBeanMethods = false)
    static class CaseBlind implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            PathPatternParser parser = new PathPatternParser();
            parser.setCaseSensitive(false);
            configurer.setPatternParser(parser);
        }
    }

    /** Paths with a slash at their end, which Spring Framework 6 still has, and 7 has not. */
    @Configuration(proxyBeanMethods = false)
    static class LastSlash implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            set(configurer, "setUseTrailingSlashMatch");
        }
    }

    /** The same, and paths with any suffix, for an {@code AntPathMatcher}. */
    @Configuration(proxyBeanMethods = false)
    static class LastSlashAndSuffix implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            set(configurer, "setUseTrailingSlashMatch");
            set(configurer, "setUseSuffixPatternMatch");
        }
    }

    private static void set(PathMatchConfigurer configurer, String option) {
        Method setter = ReflectionUtils.findMethod(PathMatchConfigurer.class, option, Boolean.class);
        if (setter != null) {
            ReflectionUtils.invokeMethod(setter, configurer, true);
        }
    }

    /** Paths that nobody decodes, with their matrix parameters. */
    @Configuration(proxyBeanMethods = false)
    static class AsWritten implements WebMvcConfigurer {

        @Override
        @SuppressWarnings("removal") // it is what is tested
        public void configurePathMatch(PathMatchConfigurer configurer) {
            UrlPathHelper helper = new UrlPathHelper();
            helper.setUrlDecode(false);
            helper.setRemoveSemicolonContent(false);
            configurer.setUrlPathHelper(helper);
        }
    }

    /** Paths in any case, and with blanks around their parts. */
    @Configuration(proxyBeanMethods = false)
    static class Blanks implements WebMvcConfigurer {

        @Override
        @SuppressWarnings("removal") // it is what is tested
        public void configurePathMatch(PathMatchConfigurer configurer) {
            AntPathMatcher matcher = new AntPathMatcher();
            matcher.setCaseSensitive(false);
            matcher.setTrimTokens(true);
            configurer.setPathMatcher(matcher);
        }
    }

    /** A mapping of the application, which finds nothing; nobody else can tell. */
    @Configuration(proxyBeanMethods = false)
    static class Unreadable {

        static class Unknown implements HandlerMapping, Ordered {

            @Override
            public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
                return null;
            }

            @Override
            public int getOrder() {
                return Ordered.HIGHEST_PRECEDENCE;
            }
        }

        @Bean
        Unknown unknown() {
            return new Unknown();
        }
    }

    /** Spring Security rejects no path for how it is written. */
    @Configuration(proxyBeanMethods = false)
    static class NoFirewall {

        @Bean
        HttpFirewall firewall() {
            StrictHttpFirewall firewall = new StrictHttpFirewall();
            firewall.setAllowSemicolon(true);
            firewall.setAllowUrlEncodedSlash(true);
            firewall.setAllowUrlEncodedDoubleSlash(true);
            firewall.setAllowUrlEncodedPeriod(true);
            firewall.setAllowBackSlash(true);
            firewall.setAllowNull(true);
            firewall.setAllowUrlEncodedPercent(true);
            firewall.setAllowUrlEncodedCarriageReturn(true);
            firewall.setAllowUrlEncodedLineFeed(true);
            return firewall;
        }
    }
}
