package dev.ratelimit.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.ratelimit.client", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule module_knowsNeitherServersNorSpringBoot = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit.spring..", "org.springframework.boot..", "org.springframework.context..");

    @ArchTest
    static final ArchRule webFlux_isNeededForItsFilterAlone = noClasses()
            .that()
            .haveNameNotMatching(".*\\.RateLimitExchangeFilter")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams..", "org.springframework.web.reactive..");
}
