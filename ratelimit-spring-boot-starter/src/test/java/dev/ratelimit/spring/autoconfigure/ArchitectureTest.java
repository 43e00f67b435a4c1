package dev.ratelimit.spring.autoconfigure;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * What any web stack can use knows no servlets, the wiring is known by nobody, and of the packages below
 * {@code dev.ratelimit.spring}, which are not API, only these modules know anything.
 */
@AnalyzeClasses(packages = "dev.ratelimit", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String WIRING = "dev.ratelimit.spring.autoconfigure";
    private static final String ANY_STACK = "dev.ratelimit.spring.boot..";
    private static final String SHARED_WIRING = "dev.ratelimit.spring.boot.autoconfigure";
    private static final String SERVLETS = "dev.ratelimit.spring.servlet..";

    @ArchTest
    static final ArchRule wiring_showsItsAutoConfigurationsOnly = classes()
            .that()
            .resideInAPackage(WIRING)
            .and()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveSimpleNameEndingWith("AutoConfiguration");

    @ArchTest
    static final ArchRule wiring_isKnownByNobody = noClasses()
            .that()
            .resideOutsideOfPackage(WIRING)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(WIRING);

    @ArchTest
    static final ArchRule sharedWiring_isKnownByTheWiringOfStartersOnly = noClasses()
            .that()
            .resideOutsideOfPackages(WIRING, SHARED_WIRING)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(SHARED_WIRING);

    @ArchTest
    static final ArchRule packages_haveNoCycles =
            slices().matching("dev.ratelimit.spring.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule anyStack_knowsNoServlets = noClasses()
            .that()
            .resideInAPackage(ANY_STACK)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SERVLETS, "jakarta.servlet..", "org.springframework.web.servlet..");

    @ArchTest
    static final ArchRule starter_needsNoSecurity = noClasses()
            .that()
            .resideInAnyPackage(WIRING, ANY_STACK, SERVLETS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.security..");

    @ArchTest
    static final ArchRule packagesBeneath_areKnownBySpringModulesOnly = noClasses()
            .that(resideOutsideOfPackages("dev.ratelimit.spring..", "dev.ratelimit.test.spring"))
            .should()
            .dependOnClassesThat(resideInAPackage("dev.ratelimit.spring.*.."));
}
