// Code as people write it, each with another reason to wait for its lock; the case is the first argument, and a second
// one makes what was advised. Sizes are such that each takes about half a second.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static bool twin;  // what was advised is done

static thread_local volatile unsigned sink;

static void burn(int n) {
  unsigned x = 1;
  for (int i = 0; i < n; ++i) x = x * 1664525 + 1013904223;
  sink = x;
}

static void parallel(int threads, std::function<void(int)> f) {
  std::vector<std::thread> ts;
  for (int t = 0; t < threads; ++t) ts.emplace_back(f, t);
  for (auto& t : ts) t.join();
}

// Formatting under the lock, at its beginning.
struct Log {
  std::mutex m;
  std::vector<std::string> lines;
  void add(int id, double v, const char* what) {
    if (twin) {
      std::string s = format(id, v, what);
      std::lock_guard g(m);
      lines.push_back(std::move(s));
    } else {
      std::lock_guard g(m);
      lines.push_back(format(id, v, what));
    }
  }
  static std::string format(int id, double v, const char* what) {
    std::ostringstream o;
    for (int i = 0; i < 12; ++i)
      o << std::setw(8) << id + i << ' ' << std::fixed << std::setprecision(3) << v * i << ' ' << what << ';';
    return o.str();
  }
};

static void logging() {
  Log log;
  parallel(4, [&](int t) {
    for (int i = 0; i < 3000; ++i) {
      burn(20000);
      log.add(i, i * 0.37 + t, "request");
    }
  });
  printf("%zu\n", log.lines.size());
}

// Asking a remote side in the middle, under the lock.
struct Cache {
  std::mutex m;
  std::unordered_map<int, std::string> known;
  unsigned misses = 0;
  static std::string ask(int key) {
    usleep(400);
    return "value" + std::to_string(key);
  }
  std::string get(int key) {
    if (!twin) {
      std::lock_guard g(m);
      auto it = known.find(key);
      if (it != known.end()) return it->second;
      ++misses;
      std::string v = ask(key);
      known[key] = v;
      return v;
    }
    {
      std::lock_guard g(m);
      auto it = known.find(key);
      if (it != known.end()) return it->second;
      ++misses;
    }
    std::string v = ask(key);
    std::lock_guard g(m);
    known[key] = v;
    return v;
  }
};

static void remote() {
  Cache c;
  parallel(4, [&](int t) {
    for (int i = 0; i < 500; ++i) {
      c.get(t * 100000 + i / 2);
      burn(60000);
    }
  });
  printf("%zu\n", c.known.size());
}

// Get or insert, mostly hits.
struct Registry {
  std::shared_mutex m;
  std::map<std::string, std::shared_ptr<std::string>> items;
  size_t use(const std::string& name) {
    if (twin) {
      {
        std::shared_lock g(m);
        auto it = items.find(name);
        if (it != items.end()) return work(*it->second);
      }
    }
    std::unique_lock g(m);
    auto it = items.find(name);
    if (it == items.end()) it = items.emplace(name, std::make_shared<std::string>(name + "!")).first;
    return work(*it->second);
  }
  static size_t work(const std::string& s) {
    size_t h = 0;
    for (int i = 0; i < 600; ++i) h = h * 31 + std::hash<std::string>()(s);
    return h;
  }
};

static void registry() {
  Registry r;
  parallel(4, [&](int t) {
    size_t s = 0;
    for (int i = 0; i < 12000; ++i) {
      s += r.use("item" + std::to_string((i * 13 + t * 7) % 400));
      burn(3000);
    }
    sink = s;
  });
  printf("%zu\n", r.items.size());
}

// One lock for many objects.
struct Account {
  std::mutex own;
  long balance = 0;
  long history[32] = {};
};
struct Bank {
  std::mutex m;
  std::vector<std::unique_ptr<Account>> accounts;
  void book(int n, long x) {
    Account& a = *accounts[n];
    std::unique_lock g(twin ? a.own : m);
    for (int r = 0; r < 60; ++r)
      for (long& h : a.history) {
        h = h * 3 + x;
      }
    a.balance += x;
  }
};

static void bank() {
  Bank b;
  for (int i = 0; i < 256; ++i) b.accounts.push_back(std::make_unique<Account>());
  parallel(4, [&](int t) {
    unsigned x = t + 1;
    for (int i = 0; i < 60000; ++i) {
      x = x * 1664525 + 1013904223;
      b.book(x >> 24, i);
      burn(1500);
    }
  });
  long s = 0;
  for (auto& a : b.accounts) s += a->balance;
  printf("%ld\n", s);
}

// Statistics by key, one lock over a map of vectors.
struct Stats {
  std::mutex m[16];
  std::unordered_map<std::string, std::vector<double>> by[16];
  void add(const std::string& key, double v) {
    unsigned p = twin ? std::hash<std::string>()(key) % 16 : 0;
    std::lock_guard g(m[p]);
    auto& list = by[p][key];
    list.push_back(v);
    if (list.size() > 64) {
      double s = 0;
      for (double d : list) s += d;
      list.clear();
      list.push_back(s);
    }
    double q = 0;
    for (int r = 0; r < 20; ++r)
      for (double d : list) q += d * d;
    sink = static_cast<unsigned>(q);
  }
};

static void stats() {
  Stats s;
  parallel(4, [&](int t) {
    for (int i = 0; i < 60000; ++i) {
      s.add("endpoint/" + std::to_string((i * 31 + t) % 64), i);
      burn(1200);
    }
  });
  printf("%zu\n", s.by[0].size());
}

// Queue with one lock where producers prepare inside.
struct Order {
  int id;
  std::string text;
  std::vector<int> items;
};
struct Queue {
  std::mutex m;
  std::deque<std::unique_ptr<Order>> q;
  size_t total = 0;
  void put(int id) {
    if (twin) {
      auto o = make(id);
      std::lock_guard g(m);
      total += o->items.size();
      q.push_back(std::move(o));
      if (q.size() > 100) q.pop_front();
    } else {
      std::lock_guard g(m);
      auto o = make(id);
      total += o->items.size();
      q.push_back(std::move(o));
      if (q.size() > 100) q.pop_front();
    }
  }
  static std::unique_ptr<Order> make(int id) {
    auto o = std::make_unique<Order>();
    o->id = id;
    o->text = "order " + std::to_string(id);
    for (int i = 0; i < 200; ++i) {
      o->items.push_back(id * i);
      o->text += char('a' + i % 26);
    }
    return o;
  }
};

static void queue() {
  Queue q;
  parallel(4, [&](int t) {
    for (int i = 0; i < 40000; ++i) {
      q.put(i + t);
      burn(1500);
    }
  });
  printf("%zu\n", q.total);
}

int main(int argc, char** argv) {
  std::map<std::string, void (*)()> all{{"logging", logging}, {"remote", remote}, {"registry", registry},
                                        {"bank", bank},       {"stats", stats},   {"queue", queue}};
  twin = argc > 2;
  auto t0 = std::chrono::steady_clock::now();
  all.at(argv[1])();
  fprintf(stderr, "%s %s %.3f\n", argv[1], twin ? "twin" : "base",
          std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
}
