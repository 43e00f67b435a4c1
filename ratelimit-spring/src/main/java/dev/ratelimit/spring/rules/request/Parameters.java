package dev.ratelimit.spring.rules.request;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/**
 * The parameters of a limited method, as expressions refer to them: {@code #login}, or {@code #a0} or {@code #p0} by
 * position. Immutable.
 */
public final class Parameters {

    /** No parameters: expressions about requests. */
    public static final Parameters NONE = new Parameters(Map.of(), List.of(), "");

    /** Those of methods that are not known yet; an expression may use any name. */
    public static final Parameters ANY = new Parameters(Map.of(), List.of(), "");

    /** No parameters either: expressions about requests of a policy that no annotation has to name. */
    public static final Parameters NOT_ANNOTATED = new Parameters(Map.of(), List.of(), "");

    private final Map<String, Integer> positions;
    private final List<Class<?>> types;
    private final String shown;

    private Parameters(Map<String, Integer> positions, List<Class<?>> types, String shown) {
        this.positions = positions;
        this.types = types;
        this.shown = shown;
    }

    /** The parameters of a method. Those whose names are not in the class file have their positions only. */
    public static Parameters of(Class<?> type, Method method) {
        @Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
        Map<String, Integer> positions = new HashMap<>();
        List<Class<?>> types = new ArrayList<>();
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            positions.put("a" + i, i);
            positions.put("p" + i, i);
            types.add(ResolvableType.forMethodParameter(method, i, type).toClass());
        }
        for (int i = 0; i < method.getParameterCount(); i++) {
            // the last parameter of a Kotlin function that suspends has none
            String name = names == null || i >= names.length ? null : names[i];
            if (name != null) {
                positions.put(name, i);
            }
            shown.add("#" + Objects.requireNonNullElse(name, "a" + i));
        }
        return new Parameters(Map.copyOf(positions), List.copyOf(types), String.join(", ", shown));
    }

    /** Whether an expression may refer to this variable as a parameter. */
    public boolean include(String name) {
        return this == ANY || positions.containsKey(name);
    }

    /** The declared type of a parameter; {@code null} if it is unknown. */
    public @Nullable Class<?> type(String name) {
        Integer position = positions.get(name);
        return position == null ? null : types.get(position);
    }

    /** The value of a parameter; {@code null} if there is no such parameter. */
    @Nullable
    Object valueOf(String name, @Nullable Object[] arguments) {
        Integer position = positions.get(name);
        return position == null || position >= arguments.length ? null : arguments[position];
    }

    /** How an expression could refer to parameters, for error messages; empty if it cannot, or does. */
    public String remedy() {
        return this == NOT_ANNOTATED
                ? ". Is it an argument of a handler? Then write match.annotated: true as well"
                : "";
    }

    /** The parameters for error messages, such as {@code #login, #a1}; empty if there are none. */
    @Override
    public String toString() {
        return shown;
    }
}
