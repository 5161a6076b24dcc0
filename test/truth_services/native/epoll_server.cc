// One thread waits for all connections by epoll and hands what they ask for to workers through a queue with a condition variable.
// The workers wait for another machine: two are too few. Changed: twelve.
#include <sys/epoll.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "http.h"

namespace {

struct Request {
  int connection;
  int id;
};

class Queue {
 public:
  void put(Request request) {
    std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
    filled_.notify_one();
  }

  Request take() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return !requests_.empty(); });
    const Request first = requests_.front();
    requests_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Request> requests_;
};

void work(Queue& queue) {
  for (;;) {
    const Request request = queue.take();
    remote_call(4);
    const std::string details = summary(page("details", request.id, 300));
    send_answer(request.connection, summary(page("item", request.id, 2500 + request.id % 5 * 500)) + " " + details);
  }
}

void watch(int epoll, int connection) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = connection;
  check(epoll_ctl(epoll, EPOLL_CTL_ADD, connection, &event), "epoll_ctl");
}

// Reads what has come and hands on each request that is all there; false at the connection's end.
bool read_requests(int connection, std::string& received, Queue& queue) {
  char buffer[4096];
  const ssize_t count = read(connection, buffer, sizeof buffer);
  if (count <= 0) return false;
  received.append(buffer, static_cast<size_t>(count));
  for (int id; take_request(received, id);) queue.put({connection, id});
  return true;
}

}  // namespace

int main(int count, char** words) {
  const Arguments options = arguments(count, words, {"base", "more-workers"});
  Queue queue;
  std::vector<std::thread> workers;
  for (int i = 0; i < (options.variant == "base" ? 2 : 12); ++i) workers.emplace_back(work, std::ref(queue));

  const int listener = listen_on(options.port);
  const int epoll = check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  watch(epoll, listener);
  std::map<int, std::string> received;
  epoll_event events[64];
  for (;;) {
    const int ready = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < ready; ++i) {
      const int connection = events[i].data.fd;
      if (connection == listener) {
        const int accepted = accept_one(listener);
        if (accepted >= 0) watch(epoll, accepted);
      } else if (!read_requests(connection, received[connection], queue)) {
        received.erase(connection);
        close(connection);
      }
    }
  }
}
