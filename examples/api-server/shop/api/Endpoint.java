package shop.api;

/** Answers one kind of request. Runs on a worker, which it keeps until the answer is there. */
interface Endpoint {
  String handle(Request request) throws Exception;
}
