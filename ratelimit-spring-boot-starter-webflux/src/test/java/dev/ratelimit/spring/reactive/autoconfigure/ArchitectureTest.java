package dev.ratelimit.spring.reactive.autoconfigure;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The wiring is known by nobody, the API knows none of the other packages, and nothing knows servlets. */
@AnalyzeClasses(packages = "dev.ratelimit.spring", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String API = "dev.ratelimit.spring.reactive";
    private static final String WIRING = "dev.ratelimit.spring.reactive.autoconfigure";
    private static final String REACTIVE = "dev.ratelimit.spring.reactive..";

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
    static final ArchRule api_knowsNoOtherPackage = noClasses()
            .that()
            .resideInAPackage(API)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.spring.reactive.*..");

    @ArchTest
    static final ArchRule packages_haveNoCycles =
            slices().matching("dev.ratelimit.spring.reactive.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule starter_knowsNoServlets = noClasses()
            .that()
            .resideInAPackage(REACTIVE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("jakarta.servlet..", "org.springframework.web.servlet..");

    @ArchTest
    static final ArchRule security_isKnownByClassesThatAreLoadedWithItOnly = noClasses()
            .that()
            .resideInAPackage(REACTIVE)
            .and()
            .doNotHaveSimpleName("Secured")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.security..");
}
