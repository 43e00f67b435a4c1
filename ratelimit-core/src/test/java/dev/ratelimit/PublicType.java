package dev.ratelimit;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A type in the notation of {@link PublicApi}: its header and its members, sorted by their text, without members that
 * only override others.
 */
final class PublicType {

    private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString");
    private static final Set<String> OF_ENUM = Set.of("values", "valueOf");

    private final Class<?> type;

    private PublicType(Class<?> type) {
        this.type = type;
    }

    static boolean isVisible(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        boolean visible = Modifier.isPublic(type.getModifiers()) || Modifier.isProtected(type.getModifiers());
        return visible && (outer == null || isVisible(outer));
    }

    static String text(Class<?> type) {
        return new PublicType(type).text();
    }

    private String text() {
        Stream<String> members = Stream.of(fields(), constructors(), methods()).flatMap(kind -> kind.sorted());
        return Stream.concat(Stream.of(header()), members.map(member -> "    " + member))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private String header() {
        int kept = kind().equals("class") ? Modifier.FINAL | Modifier.ABSTRACT : 0;
        List<Type> parents = new ArrayList<>(type.isAnnotation() ? List.of() : List.of(type.getGenericInterfaces()));
        Class<?> above = type.getSuperclass();
        if (above != null && !Set.of(Object.class, Enum.class, Record.class).contains(above)) {
            parents.add(0, type.getGenericSuperclass());
        }
        return words(
                Modifier.toString(type.getModifiers() & kept),
                type.isSealed() ? "sealed" : "",
                kind(),
                name(type) + variables(type.getTypeParameters()),
                parents.isEmpty() ? "" : ": " + names(parents.stream()));
    }

    private String kind() {
        if (type.isAnnotation()) {
            return "@interface";
        }
        if (type.isInterface()) {
            return "interface";
        }
        return type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
    }

    private Stream<String> fields() {
        return declarers()
                .flatMap(declarer -> Arrays.stream(declarer.getDeclaredFields()))
                .filter(this::isApi)
                .map(this::field);
    }

    private String field(Field field) {
        if (field.isEnumConstant()) {
            return field.getName();
        }
        String value = "";
        if (Modifier.isStatic(field.getModifiers())
                && (field.getType().isPrimitive() || field.getType() == String.class)) {
            try {
                value = "= " + field.get(null);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return words(
                modifiers(field),
                nullable(field.getAnnotatedType()),
                name(field.getGenericType()),
                field.getName(),
                value);
    }

    private Stream<String> constructors() {
        return Arrays.stream(type.getDeclaredConstructors()).filter(this::isApi).map(this::constructor);
    }

    private String constructor(Constructor<?> constructor) {
        return words(modifiers(constructor), "new " + type.getSimpleName() + parameters(constructor));
    }

    private Stream<String> methods() {
        return declarers()
                .flatMap(declarer -> Arrays.stream(declarer.getDeclaredMethods()))
                .filter(this::isApi)
                .filter(method -> !method.isBridge() && !(type.isEnum() && OF_ENUM.contains(method.getName())))
                .filter(method -> !OF_OBJECT.contains(method.getName()))
                .filter(method -> above(type).noneMatch(parent -> declares(parent, method)))
                .map(this::method);
    }

    /** The visible types that this type extends or implements. */
    private static Stream<Class<?>> above(Class<?> type) {
        Stream<Class<?>> direct =
                Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()));
        return direct.flatMap(parent -> Stream.concat(Stream.of(parent), above(parent)))
                .filter(PublicType::isVisible);
    }

    /** Whether a method has the same signature as the one that it overrides. */
    private static boolean declares(Class<?> parent, Method method) {
        return Arrays.stream(parent.getDeclaredMethods())
                .anyMatch(other -> other.getName().equals(method.getName())
                        && Arrays.equals(other.getParameterTypes(), method.getParameterTypes())
                        && Arrays.equals(other.getExceptionTypes(), method.getExceptionTypes())
                        && other.getGenericReturnType().equals(method.getGenericReturnType()));
    }

    private String method(Method method) {
        Object otherwise = method.getDefaultValue();
        return words(
                modifiers(method),
                method.isDefault() ? "default" : "",
                variables(method.getTypeParameters()),
                nullable(method.getAnnotatedReturnType()),
                name(method.getGenericReturnType()),
                method.getName() + parameters(method),
                otherwise == null ? "" : "default " + value(otherwise));
    }

    private static String value(Object value) {
        return value instanceof Object[] several ? Arrays.toString(several) : "\"" + value + "\"";
    }

    /** The type, and its hidden supertypes, whose visible members belong to it for users. */
    private Stream<Class<?>> declarers() {
        return Stream.<Class<?>>iterate(type, declarer -> declarer != null, Class::getSuperclass)
                .takeWhile(declarer -> declarer == type || !isVisible(declarer));
    }

    private boolean isApi(Member member) {
        boolean mayExtend = !Modifier.isFinal(type.getModifiers());
        return !member.isSynthetic()
                && (Modifier.isPublic(member.getModifiers())
                        || (mayExtend && Modifier.isProtected(member.getModifiers())));
    }

    /** Without {@code public}, which all members have, and without modifiers that are implicit in an interface. */
    private String modifiers(Member member) {
        int kept = Modifier.PROTECTED | Modifier.STATIC;
        boolean open = !type.isInterface() && !Modifier.isFinal(type.getModifiers()) && member instanceof Method;
        return Modifier.toString(member.getModifiers() & (kept | (open ? Modifier.FINAL | Modifier.ABSTRACT : 0)));
    }

    private static String parameters(Executable executable) {
        // without names, which Lincheck removes from classes that it transforms
        String parameters = Arrays.stream(executable.getParameters())
                .map(parameter -> words(nullable(parameter.getAnnotatedType()), type(parameter)))
                .collect(Collectors.joining(", ", "(", ")"));
        Type[] thrown = executable.getGenericExceptionTypes();
        return parameters + (thrown.length == 0 ? "" : " throws " + names(Arrays.stream(thrown)));
    }

    private static String type(Parameter parameter) {
        String name = name(parameter.getParameterizedType());
        return parameter.isVarArgs() ? name.substring(0, name.length() - 2) + "..." : name;
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(variable -> words(
                                variable.getName(),
                                variable.getBounds()[0] == Object.class
                                        ? ""
                                        : "extends " + names(Arrays.stream(variable.getBounds()))))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String nullable(AnnotatedElement annotated) {
        return annotated.isAnnotationPresent(Nullable.class) ? "@Nullable" : "";
    }

    private static String names(Stream<? extends Type> types) {
        return types.map(PublicType::name).collect(Collectors.joining(", "));
    }

    /** Without packages for types of the JDK's two best-known packages, and for our own. */
    private static String name(Type type) {
        return type.getTypeName()
                .replaceAll("\\b(java\\.lang|java\\.util|dev\\.ratelimit(\\.[a-z]+)*)\\.(?=[A-Z])", "")
                .replace('$', '.');
    }

    private static String words(String... words) {
        return Arrays.stream(words).filter(word -> !word.isEmpty()).collect(Collectors.joining(" "));
    }
}
