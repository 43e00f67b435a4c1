package dev.ratelimit.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.List;

/**
 * The API for applications knows nothing beneath it, the rules use no web stack, and their packages lie in layers: each
 * one knows only those before it.
 */
@AnalyzeClasses(packages = "dev.ratelimit.spring", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String RULES = "dev.ratelimit.spring.rules.";

    private static final List<String> LAYERS = List.of(
            "text",
            "address",
            "request",
            "path",
            "expression",
            "key",
            "field",
            "refusal",
            "rule",
            "config",
            "mistake",
            "decision",
            "traffic",
            "trial",
            "history",
            "recording",
            "override",
            "operation");

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
    static void packages_lieInLayers(JavaClasses classes) {
        assertThat(classes.stream()
                        .map(JavaClass::getPackageName)
                        .filter(name -> name.startsWith(RULES))
                        .map(name -> name.substring(RULES.length()))
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(LAYERS);
        for (int i = 0; i < LAYERS.size() - 1; i++) {
            noClasses()
                    .that()
                    .resideInAPackage(RULES + LAYERS.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(LAYERS.subList(i + 1, LAYERS.size()).stream()
                            .map(RULES::concat)
                            .toArray(String[]::new))
                    .check(classes);
        }
    }

    /** A request that is recorded outlives the rules that it has met, with all their overrides, when they are changed. */
    @ArchTest
    static final ArchRule recording_keepsNoRules = noFields()
            .that()
            .areDeclaredInClassesThat()
            .resideInAPackage(RULES + "recording")
            .should()
            .haveRawType(Rule.class)
            .orShould()
            .haveRawType(LimitOverride.class)
            .orShould()
            .haveRawType(KeyPart.class)
            .orShould()
            .haveRawType(Policy.class);

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
