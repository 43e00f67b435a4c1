package dev.ratelimit.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Arrows run only towards the root; {@code autoconfigure} wires, and nobody imports it. */
@AnalyzeClasses(packages = "dev.ratelimit.spring", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule packages_haveNoCycles =
            slices().matching("dev.ratelimit.spring.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule root_importsNoLeaf = noClasses()
            .that()
            .resideInAPackage("dev.ratelimit.spring")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.spring.*..");

    @ArchTest
    static final ArchRule web_importsNoOtherLeaf = noClasses()
            .that()
            .resideInAPackage("..spring.web..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("..spring.config..", "..spring.autoconfigure..");

    @ArchTest
    static final ArchRule config_importsNoOtherLeaf = noClasses()
            .that()
            .resideInAPackage("..spring.config..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("..spring.web..", "..spring.autoconfigure..");

    @ArchTest
    static final ArchRule security_isNeededForClaimsOnly = noClasses()
            .that()
            .doNotHaveSimpleName("Claims")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.security..");
}
