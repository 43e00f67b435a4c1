package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called instead of a refused one.
 *
 * @param method with the same parameters and a compatible result
 * @param takesException whether the exception is its last argument
 */
public record Fallback(Method method, boolean takesException) {

    /**
     * Finds the method with this name.
     *
     * @throws IllegalArgumentException if there is no such method, or it does not fit
     */
    public static Fallback of(Class<?> type, Method limited, String name) {
        List<Method> all = Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
                .filter(method -> !method.isBridge() && !method.equals(limited))
                .toList();
        List<Method> named =
                all.stream().filter(method -> method.getName().equals(name)).toList();
        if (named.isEmpty()) {
            List<String> names = all.stream().map(Method::getName).distinct().toList();
            throw new IllegalArgumentException("the fallback " + Quotation.of(name) + Spelling.hint(name, names)
                    + " is not a method of " + type.getSimpleName() + "; write the name of a method of this class");
        }
        Fallback found = named.stream()
                .filter(method -> takes(method, limited.getParameterTypes()))
                .map(method -> new Fallback(method, method.getParameterCount() > limited.getParameterCount()))
                .max(Comparator.comparing(Fallback::takesException))
                .orElseThrow(() -> new IllegalArgumentException("the fallback " + Quotation.of(name)
                        + " has other parameters; write " + signature(limited, name)
                        + ", optionally with a RateLimitExceededException as the last parameter"));
        if (!isCompatible(limited.getReturnType(), found.method.getReturnType())) {
            throw new IllegalArgumentException("the fallback " + Quotation.of(name) + " returns "
                    + found.method.getReturnType().getSimpleName() + "; it must return "
                    + limited.getReturnType().getSimpleName() + ", as the method does");
        }
        ReflectionUtils.makeAccessible(found.method);
        return found;
    }

    private static boolean takes(Method method, Class<?>[] types) {
        Class<?>[] own = method.getParameterTypes();
        boolean exception = own.length == types.length + 1
                && Throwable.class.isAssignableFrom(own[types.length])
                && own[types.length].isAssignableFrom(RateLimitExceededException.class);
        if (own.length != types.length && !exception) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (!ClassUtils.isAssignable(own[i], types[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean isCompatible(Class<?> wanted, Class<?> returned) {
        return wanted == void.class ? returned == void.class : ClassUtils.isAssignable(wanted, returned);
    }

    private static String signature(Method limited, String name) {
        return name
                + Stream.of(limited.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /**
     * Calls the method.
     *
     * @param target the object that was called
     * @return the result
     * @throws Throwable what the method throws
     */
    public @Nullable Object invoke(
            @Nullable Object target, @Nullable Object[] arguments, RateLimitExceededException refusal)
            throws Throwable {
        @Nullable Object[] all = arguments;
        if (takesException) {
            all = Arrays.copyOf(arguments, arguments.length + 1);
            all[arguments.length] = refusal;
        }
        // of a Kotlin function that suspends, it makes a result to come, as a proxy does
        return AopUtils.invokeJoinpointUsingReflection(target, method, all);
    }
}
