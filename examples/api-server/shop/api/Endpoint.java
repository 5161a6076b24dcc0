package shop.api;

/** Answers one kind of request. Runs on a handler, which it keeps until the answer is there. */
interface Endpoint {
  String handle(Request request) throws Exception;
}
