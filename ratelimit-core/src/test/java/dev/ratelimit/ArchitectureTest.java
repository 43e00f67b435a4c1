package dev.ratelimit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;

/** The root package is the vocabulary, sub-packages implement it, and there are no other dependencies. */
@AnalyzeClasses(packages = "dev.ratelimit", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule packages_haveNoCycles =
            slices().matching("dev.ratelimit.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule root_importsNoLeaf = noClasses()
            .that()
            .resideInAPackage("dev.ratelimit")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.*..");

    @ArchTest
    static final ArchRule memory_knowsNoOtherLeaf = knowsNoOtherLeaf("memory", "algorithm", "lease", "queue", "remote");

    @ArchTest
    static final ArchRule queue_knowsNoOtherLeaf = knowsNoOtherLeaf("queue", "algorithm", "lease", "memory", "remote");

    @ArchTest
    static final ArchRule lease_knowsNoOtherLeaf = knowsNoOtherLeaf("lease", "algorithm", "memory", "queue", "remote");

    /** Memory decides while no server does. */
    @ArchTest
    static final ArchRule remote_knowsMemoryOnly = knowsNoOtherLeaf("remote", "algorithm", "lease", "queue");

    @ArchTest
    static final ArchRule core_needsTheJdkOnly = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "java..",
                    "org.jspecify..",
                    "dev.ratelimit..",
                    // @GuardedBy, which only the compiler reads
                    "com.google.errorprone.annotations.concurrent");

    private static ArchRule knowsNoOtherLeaf(String leaf, String... others) {
        return noClasses()
                .that()
                .resideInAPackage("dev.ratelimit." + leaf + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(Stream.of(others)
                        .map(other -> "dev.ratelimit." + other + "..")
                        .toArray(String[]::new));
    }
}
