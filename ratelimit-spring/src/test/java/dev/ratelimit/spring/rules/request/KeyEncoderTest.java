package dev.ratelimit.spring.rules.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.text.CountedText;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyEncoderTest {

    private final KeyEncoder key = new KeyEncoder(true, 32, 64);

    @Test
    void append_parts_standOneAfterAnother() {
        key.append('e', "GET /");
        key.appendIdentity('u', "Bob");
        key.appendShared();

        assertThat(key).hasToString("e5:GET /u3:bob-0:");
    }

    @Test
    void clear_startsAgain() {
        key.append('m', "GET");
        key.clear();
        key.append('m', "PUT");

        assertThat(key).hasToString("m3:PUT");
    }

    @ParameterizedTest
    @CsvSource({
        "1.2.3.4, a7:1.2.3.4",
        "11.22.3.44, a10:11.22.3.44",
        "2001:db8:1:2::5, a17:2001:db8:1:2::/64",
    })
    void append_address_isItsNetworkWithItsLength(String text, String expected) {
        IpAddress address = new IpAddress();
        address.read(text, 0, text.length());

        key.append(address);

        assertThat(key).hasToString(expected);
    }

    @Test
    void appendOpaqueAddress_withoutAnAddress_isWhatTheContainerSays() {
        key.appendOpaqueAddress("unix:/socket");
        key.appendOpaqueAddress(null);

        assertThat(key).hasToString("a12:unix:/socketa0:");
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " ", "\t\u0000", "\u200b\u00a0", "\u007f"})
    void appendIdentity_nothingOrBlank_isNone(@Nullable String value) {
        assertThat(key.appendIdentity('u', value)).isFalse();
        assertThat(key).hasToString("");
    }

    @ParameterizedTest
    @CsvSource({"AZaz09, azaz09", "\u00c9t\u00c9, \u00e9t\u00e9", "Stra\u00dfe, strasse", "\u0130\u0131I, iii"})
    void appendIdentity_ignoringCase_isInSmallLetters(String value, String expected) {
        assertThat(key.appendIdentity('u', value)).isTrue();
        assertThat(key).hasToString("u" + expected.length() + ":" + expected);
    }

    @Test
    void toString_at64Bytes_isTheKey_beyondItsHash() {
        key.append('h', "x".repeat(60));
        assertThat(key.toString()).hasSize(64).startsWith("h60:x");

        key.clear();
        key.append('h', "x".repeat(61));
        assertThat(key.toString()).hasSize(44).startsWith("#");
    }

    @Test
    void toString_lettersOfTwoBytes_countTwice() {
        String latin = "\u00ff".repeat(33);
        String wide = "\u4e00".repeat(28);
        key.append('h', latin);
        assertThat(key).hasToString("h33:" + latin);

        key.clear();
        key.append('h', wide);
        assertThat(key).hasToString("h28:" + wide);

        key.clear();
        key.append('h', wide + "\u4e00");
        assertThat(key.toString()).startsWith("#");
    }

    @Test
    void toString_longKeys_areEqualOnlyIfEachCharacterIs() {
        String start = "x".repeat(64);

        assertThat(hashed(start + "\u0100")).isNotEqualTo(hashed(start + "\u0200"));
        assertThat(hashed(start + "\u0101")).isNotEqualTo(hashed(start + "\u0102"));
        assertThat(hashed(start + "\ud800")).isNotEqualTo(hashed(start + "\udc00"));
    }

    @Test
    void digest_textOfAClient_readsACharacterAFewTimes() {
        CountedText.checkReads(List.of("x", "\u4e00"), KeyEncoder::digest);
    }

    private String hashed(String value) {
        key.clear();
        key.append('h', value);
        return key.toString();
    }
}
