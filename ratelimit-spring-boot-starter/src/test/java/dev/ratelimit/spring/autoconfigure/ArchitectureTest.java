package dev.ratelimit.spring.autoconfigure;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The starter hides all but what Spring Boot looks for by name, and needs no Spring Security. */
@AnalyzeClasses(packages = "dev.ratelimit.spring.autoconfigure", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule starter_showsItsAutoConfigurationsOnly = classes()
            .that()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveSimpleNameEndingWith("AutoConfiguration");

    @ArchTest
    static final ArchRule starter_needsNoSecurity =
            noClasses().should().dependOnClassesThat().resideInAPackage("org.springframework.security..");
}
