package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.refusal.RefusalFormat;
import dev.ratelimit.spring.rules.text.Quotation;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/** Reads what a refusal looks like. */
public final class ResponseParser {

    private ResponseParser() {}

    /**
     * Reads properties.
     *
     * @param where the group of the properties, such as {@code ratelimit.response}
     * @param otherwise what applies to what is not written
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static RefusalFormat parse(String where, RateLimitProperties.Response written, RefusalFormat otherwise) {
        Section section = new Section(where);
        Integer status = written.status();
        if (status != null && (status < 400 || status > 599)) {
            throw section.mistake("status", status, "status must be from 400 to 599 but was " + status + "; write 429");
        }
        RefusalFormat.Content content = content(section, written);
        return new RefusalFormat(
                status == null ? otherwise.status() : status,
                written.body() == null ? otherwise.body() : written.body(),
                written.detail() == null ? otherwise.detail() : written.detail(),
                content == null && written.body() == null && written.detail() == null ? otherwise.content() : content);
    }

    private static RefusalFormat.@Nullable Content content(Section section, RateLimitProperties.Response written) {
        String text = written.content();
        if (text == null) {
            if (written.contentType() != null) {
                throw section.mistake(
                        "content-type",
                        written.contentType(),
                        "content-type belongs to content, which is missing; write content, or remove it");
            }
            return null;
        }
        if (written.body() != null || written.detail() != null) {
            String other = written.body() != null ? "body" : "detail";
            throw section.mistake(other, null, "content is the whole body; write either content or " + other);
        }
        String type = type(section, written.contentType(), text);
        return section.checked("content", text, () -> new RefusalFormat.Content(type, text));
    }

    private static String type(Section section, @Nullable String written, String text) {
        if (written == null) {
            return text.startsWith("{") || text.startsWith("[") ? "application/json" : "text/plain;charset=UTF-8";
        }
        try {
            MediaType type = MediaType.parseMediaType(written);
            return type.getCharset() == null && type.getType().equals("text")
                    ? new MediaType(type, StandardCharsets.UTF_8).toString()
                    : type.toString();
        } catch (InvalidMediaTypeException e) {
            throw section.mistake(
                    "content-type",
                    written,
                    Quotation.of(written) + " is not a content type; write application/json, for example");
        }
    }
}
