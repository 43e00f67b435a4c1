package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.config.PolicyProperties;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/** What a native image has to keep: the annotations, the short form of a plan, what expressions may call, and the scripts. */
final class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        for (Class<?> annotation : List.of(RateLimited.class, RateLimited.All.class, RateLimitExempt.class)) {
            hints.reflection().registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
            hints.proxies().registerJdkProxy(annotation);
        }
        hints.reflection()
                .registerMethod(
                        ClassUtils.getMethod(PolicyProperties.Plan.class, "of", String.class), ExecutableMode.INVOKE);
        hints.resources().registerPattern("dev/ratelimit/redis/*.lua");
        for (Class<?> type : List.of(HttpServletRequest.class, HttpSession.class, Principal.class, String.class)) {
            hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }
}
