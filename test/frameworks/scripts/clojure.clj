;; Futures, each on a thread of Clojure's own pool.
(defn spin [x]
  (loop [i 0, y (long x)]
    (if (< i 20000) (recur (inc i) (bit-xor (unchecked-multiply y 31) i)) y)))

(defn work [i]
  (spin i)
  i)

(defn run []
  (let [all (mapv (fn [i] (future (work i))) (range 40))]
    (reduce + (map deref all))))

(println (run))
(shutdown-agents)
