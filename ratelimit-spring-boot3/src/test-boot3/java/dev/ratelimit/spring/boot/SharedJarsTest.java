package dev.ratelimit.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The jars that are the same for all versions of Spring Boot are compiled with the newest: whatever they use of Spring
 * and other libraries must exist in the oldest, too, with the same parameters and result.
 */
class SharedJarsTest {

    @Test
    void membersOfLibraries_thatSharedJarsUse_exist() throws ClassNotFoundException {
        Set<String> missing = new TreeSet<>();
        for (JavaClass type : new ClassFileImporter()
                .withImportOption(new DoNotIncludeTests())
                .importPackages("dev.ratelimit")) {
            for (JavaAccess<?> access : type.getAccessesFromSelf()) {
                JavaClass owner = access.getTargetOwner();
                if (access.getTarget() instanceof CodeUnitAccessTarget target
                        && owner.getPackageName()
                                .matches("(org\\.springframework|io\\.lettuce|io\\.micrometer|reactor).*")
                        && !exists(owner, target)) {
                    missing.add(target.getFullName() + " in " + type.getName());
                }
            }
        }

        assertThat(missing).isEmpty();
    }

    private static boolean exists(JavaClass owner, CodeUnitAccessTarget target) throws ClassNotFoundException {
        List<String> wanted = names(target.getRawParameterTypes().stream());
        String result = target.getRawReturnType().getName();
        Class<?> type = Class.forName(owner.getName(), false, SharedJarsTest.class.getClassLoader());
        if (target.getName().equals("<init>")) {
            return Stream.of(type.getDeclaredConstructors())
                    .anyMatch(one -> names(one.getParameterTypes()).equals(wanted));
        }
        return withSupertypes(type).stream()
                .flatMap(each -> Stream.of(each.getDeclaredMethods()))
                .anyMatch(method -> method.getName().equals(target.getName())
                        && names(method.getParameterTypes()).equals(wanted)
                        && method.getReturnType().getName().equals(result));
    }

    private static List<Class<?>> withSupertypes(Class<?> type) {
        List<Class<?>> all = new ArrayList<>(List.of(type));
        Stream.concat(Stream.ofNullable(type.getSuperclass()), Arrays.stream(type.getInterfaces()))
                .forEach(each -> all.addAll(withSupertypes(each)));
        if (type.isInterface()) {
            all.add(Object.class);
        }
        return all;
    }

    private static List<String> names(Class<?>... types) {
        return Stream.of(types).map(Class::getName).toList();
    }

    private static List<String> names(Stream<? extends JavaType> types) {
        return types.map(JavaType::getName).collect(Collectors.toList());
    }
}
