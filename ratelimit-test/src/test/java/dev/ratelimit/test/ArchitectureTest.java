package dev.ratelimit.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.ratelimit.test", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    /** The platform's API has grown since JUnit 5.12, which users of Spring Boot 3.5 have. */
    @ArchTest
    static final ArchRule usesJupiterAlone =
            noClasses().should().dependOnClassesThat().resideInAPackage("org.junit.platform..");
}
