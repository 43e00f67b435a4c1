/** The API for applications: annotations, resolvers of keys and plans, and handlers of refused requests. */
@NullMarked
package dev.ratelimit.spring;

import org.jspecify.annotations.NullMarked;
