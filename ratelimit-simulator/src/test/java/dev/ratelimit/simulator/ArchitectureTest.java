package dev.ratelimit.simulator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.util.List;

@AnalyzeClasses(packages = "dev.ratelimit.simulator", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String ROOT = "dev.ratelimit.simulator";

    /** A package knows only those before it. */
    private static final List<String> LAYERS = List.of(
            ".text",
            ".input",
            ".recording",
            ".traffic",
            ".endpoint",
            ".config",
            ".replay",
            ".statistics",
            ".suggest",
            ".report",
            "",
            ".command");

    @ArchTest
    static void packages_lieInLayers(JavaClasses classes) {
        assertThat(classes.stream()
                        .map(JavaClass::getPackageName)
                        .map(name -> name.substring(ROOT.length()))
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(LAYERS);
        for (int i = 0; i < LAYERS.size() - 1; i++) {
            noClasses()
                    .that()
                    .resideInAPackage(ROOT + LAYERS.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(LAYERS.subList(i + 1, LAYERS.size()).stream()
                            .map(ROOT::concat)
                            .toArray(String[]::new))
                    .check(classes);
        }
    }
}
