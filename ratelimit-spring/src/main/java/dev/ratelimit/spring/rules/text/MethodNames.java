package dev.ratelimit.spring.rules.text;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ReflectionUtils.MethodFilter;

/** Names limits after their methods. Not thread-safe. */
public final class MethodNames {

    private static final int MAX_LETTERS = 100;

    private final Map<String, Class<?>> holders = new HashMap<>();
    private final Map<String, Method> methods = new HashMap<>();

    /** A unique name: the class and the method, with as much detail as necessary. */
    public String of(Class<?> type, Method method, int place) {
        Class<?> holder = holders.putIfAbsent(type.getSimpleName(), type);
        String name = within(holder == null || holder == type ? type.getSimpleName() : type.getName(), type, method);
        if (!method.equals(Objects.requireNonNullElse(methods.putIfAbsent(name, method), method))) {
            name = name.substring(0, name.indexOf('(')) + parameters(method, Class::getName);
        }
        return shortened(place == 1 ? name : name + "-" + place);
    }

    /** The group and the method, with its parameters if it is overloaded. */
    public static String within(String group, Class<?> type, Method method) {
        MethodFilter sameName = other -> other.getName().equals(method.getName());
        boolean overloaded = MethodIntrospector.selectMethods(type, sameName).size() > 1;
        return group + "." + method.getName() + (overloaded ? parameters(method, Class::getSimpleName) : "");
    }

    /** For messages: the class and the method, with its parameters if it is overloaded. */
    public static String shown(Class<?> type, Method method) {
        String name = within(type.getSimpleName(), type, method);
        return name.endsWith(")") ? name : name + "()";
    }

    public static String parameters(Method method, Function<Class<?>, String> name) {
        return Stream.of(method.getParameterTypes()).map(name).collect(Collectors.joining(",", "(", ")"));
    }

    /** A valid name of a policy; a name that does not fit ends with its hash. */
    private static String shortened(String name) {
        String printable = name.replaceAll("[^ -~]", "_");
        if (printable.equals(name) && name.length() <= MAX_LETTERS) {
            return name;
        }
        String hash = "~" + Integer.toHexString(name.hashCode());
        return printable.substring(0, Math.min(printable.length(), MAX_LETTERS - hash.length())) + hash;
    }
}
