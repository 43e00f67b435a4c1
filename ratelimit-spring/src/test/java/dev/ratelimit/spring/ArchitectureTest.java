package dev.ratelimit.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The rules use no web stack and have few public types; the API for applications does not use the rules. */
@AnalyzeClasses(packages = "dev.ratelimit.spring", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule module_knowsNoWebStack = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "jakarta.servlet..",
                    "reactor..",
                    "org.reactivestreams..",
                    "org.springframework.web.servlet..",
                    "org.springframework.web.reactive..",
                    "org.springframework.http.server.reactive..",
                    "org.springframework.boot.autoconfigure..",
                    "dev.ratelimit.spring.autoconfigure..");

    @ArchTest
    static final ArchRule root_importsNoLeaf = noClasses()
            .that()
            .resideInAPackage("dev.ratelimit.spring")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.spring.*..");

    @ArchTest
    static final ArchRule rules_showTheirFacesOnly = classes()
            .that()
            .resideInAPackage("dev.ratelimit.spring.rules")
            .and()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveNameMatching(
                    ".*\\.(RateLimitProperties|RequestRules|RequestLimiter|ChargedRequest|Endpoint|EndpointResolver"
                            + "|OutcomeCounter|RateLimitOperations|CallLimiter|SharedChanges|Changes"
                            + "|WaitingRequests|UnknownPolicyException|StaleVersionException|Routes|SegmentWildcards)");

    @ArchTest
    static final ArchRule security_isNeededForClaimsAndCallersOnly = noClasses()
            .that()
            .doNotHaveSimpleName("Claims")
            .and()
            .doNotHaveSimpleName("SecurityCaller")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.security..");
}
