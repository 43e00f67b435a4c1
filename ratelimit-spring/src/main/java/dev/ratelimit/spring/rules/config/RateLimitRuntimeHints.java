package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.expression.ExpressionVariables;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.http.HttpCookie;
import org.springframework.util.ClassUtils;

/**
 * Keeps in a native image: the annotations, the short forms of policies and plans, the methods of expressions, the
 * scripts, and what the actuator endpoint needs.
 */
final class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        for (Class<?> annotation : List.of(RateLimited.class, RateLimited.All.class, RateLimitExempt.class)) {
            hints.reflection().registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
            hints.proxies().registerJdkProxy(annotation);
        }
        for (Class<?> shorthand : List.of(PolicyProperties.class, PolicyProperties.Plan.class)) {
            hints.reflection()
                    .registerMethod(ClassUtils.getMethod(shorthand, "of", String.class), ExecutableMode.INVOKE);
        }
        hints.resources().registerPattern("dev/ratelimit/redis/*.lua");
        hints.resources().registerPattern("dev/ratelimit/jdbc/*.sql");
        // what is in force, as YAML of the actuator endpoint
        new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(), PolicyProperties.class);
        // the page and the explanations of the actuator endpoint
        hints.resources().registerPattern("dev/ratelimit/spring/boot/actuate/*.html");
        hints.resources().registerPattern("dev/ratelimit/spring/boot/redis/*.lua");
        hints.proxies().registerJdkProxy(TypeReference.of("jakarta.servlet.http.HttpServletRequest"));
        for (Class<?> type : List.of(
                ExpressionVariables.Request.class,
                ExpressionVariables.Session.class,
                HttpCookie.class,
                Principal.class,
                String.class)) {
            hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }
}
