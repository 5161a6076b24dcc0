package shop.api;

import java.util.concurrent.CompletableFuture;

/** Answers one kind of request. Starts on a worker, which it gives back while it waits for tasks of its own. */
interface Endpoint {
  CompletableFuture<String> handle(Request request) throws Exception;
}
