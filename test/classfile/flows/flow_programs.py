#!/usr/bin/env python3
"""Random Java programs that move values around, and with each its shadow: the same program, in which each variable has a set of
taints beside it, changed step by step by the rules of FlowProf's table 1 as far as they show in the source.

  flow_programs.py FOLDER FIRST LAST

Writes ProgramN.java and ShadowN.java for each N; N is the seed. The shadow knows nothing of bytecode but what javac is bound to
do: that it evaluates operands from left to right, and that a comparison whose value is wanted is a branch.
"""
import os
import random
import re
import sys

NUMBERS = ["int", "long", "double"]
ARRAYS = {"int[]": "int", "long[]": "long", "double[]": "double", "byte[]": "int", "char[]": "int", "short[]": "int"}
OPERATORS = {"int": ["+", "-", "*", "&", "|", "^"], "long": ["+", "-", "*", "&", "|", "^"], "double": ["+", "-", "*", "/"]}
FIELDS = {"number": "int", "big": "long", "exact": "double", "array": "int[]", "next": "Base"}
STATICS = {"sNumber": "int", "sBig": "long", "sExact": "double", "sArray": "int[]", "sNode": "Base", "sTruth": "boolean"}
ZERO = {"int": "0", "long": "0L", "double": "0.0", "boolean": "false"}
RUNTIME = "ArithmeticException | NullPointerException | ArrayIndexOutOfBoundsException"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.plain, self.shadow = [], []
        self.names = 0
        self.scope = []         # (name, type), innermost last
        self.has_this = False   # `this` may be used
        self.may_call = True
        self.loop = None        # of the innermost loop: whether `continue` is possible
        self.result = None      # the type that the method returns
        self.untainted = None   # in a lambda: its captured variables and parameter, which have no taints there
        self.captured = set()
        self.methods = []       # (name, result, parameter types)

    # ---- text

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def both(self, line):
        self.plain.append(line)
        self.shadow.append(line)

    def value(self, type_, value, taint):
        """A copy in the shadow, as operands are evaluated before what comes next changes variables."""
        v = self.name("v")
        # Neither of these changes any more.
        if taint == "0L" or re.fullmatch(r"t\d+", taint):
            self.shadow.append(f"{type_} {v} = {value};")
            return v, taint
        t = self.name("t")
        self.shadow.append(f"{type_} {v} = {value}; long {t} = {taint};")
        return v, t

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def variables(self, type_):
        return [name for name, t in self.scope if t == type_]

    # ---- expressions: the plain text, and the names of value and taint in the shadow

    def expression(self, type_, depth):
        if type_ == "boolean":
            return self.truth(depth)
        if type_ in ARRAYS:
            return self.array(type_, depth)
        if type_ == "Base":
            return self.node(depth)
        kinds = [self.constant, self.variable, self.variable, self.given]
        if depth > 0:
            kinds += [self.binary] * 4 + [self.negation, self.cast, self.field, self.static, self.element, self.assignment,
                      self.step, self.choice, self.compound, self.field_assignment, self.element_update, self.static_assignment,
                      self.length, self.field_step]
            if self.may_call:
                kinds += [self.call, self.call, self.virtual]
        return self.random.choice(kinds)(type_, depth - 1)

    def constant(self, type_, depth):
        text = {"int": str(self.random.randrange(-3, 9)), "long": f"{self.random.randrange(0, 99)}L",
                "double": f"{self.random.randrange(0, 9)}.5"}[type_]
        return f"({text})", f"({text})", "0L"

    def variable(self, type_, depth):
        names = self.variables(type_)
        if not names:
            return self.static(type_, depth)
        name = self.random.choice(names)
        return (name, *self.value(type_, name, self.taint(name)))

    def taint(self, name):
        if self.untainted is not None and name in self.untainted:
            self.captured.add(name)
            return "0L"
        return name + "_t"

    def given(self, type_, depth):
        p, v, t = self.expression(type_, min(depth, 1)) if depth > 0 else self.constant(type_, 0)
        k = self.random.randrange(1, 60)
        cast = "" if type_ in NUMBERS + ["boolean"] else f"({type_}) "
        return (f"({cast}FlowTracker.give({p}, {k}))", *self.value(type_, v, f"{t} | 1L << {k}"))

    def binary(self, type_, depth):
        operator = self.random.choice(OPERATORS[type_])
        if type_ != "double" and self.chance(20):
            operator = self.random.choice(["/", "%", "<<", ">>", ">>>"])
        a = self.expression(type_, depth)
        b = self.expression("int" if operator in ("<<", ">>", ">>>") else type_, depth)
        if operator in ("/", "%") and type_ != "double" and self.chance(80):
            b = (f"({b[0]} | 1)", f"({b[1]} | 1)", b[2])  # zero only now and then
        return (f"({a[0]} {operator} {b[0]})", *self.value(type_, f"{a[1]} {operator} {b[1]}", f"{a[2]} | {b[2]}"))

    def negation(self, type_, depth):
        p, v, t = self.expression(type_, depth)
        return (f"(-{p})", *self.value(type_, f"-{v}", t))

    def cast(self, type_, depth):
        p, v, t = self.expression(self.random.choice([n for n in NUMBERS if n != type_]), depth)
        if type_ == "int" and self.chance(30):
            small = self.random.choice(["byte", "short", "char"])
            return (f"(({small}) {p})", *self.value(type_, f"({small}) {v}", t))
        return (f"(({type_}) {p})", *self.value(type_, f"({type_}) {v}", t))

    def field_of(self, type_):
        return next(name for name, t in FIELDS.items() if t == type_)

    def field(self, type_, depth):
        p, o, t = self.node(depth)
        f = self.field_of(type_)
        return (f"{p}.{f}", *self.value(type_, f"{o}.{f}", f"{t} | {o}.{f}_t"))

    def static(self, type_, depth):
        f = next(name for name, t in STATICS.items() if t == type_)
        return (f, *self.value(type_, f, f"{f}_t"))

    def index(self, depth):
        p, v, t = self.expression("int", min(depth, 2))
        mask = 7 if self.chance(4) else 3
        return f"({p} & {mask})", f"({v} & {mask})", t

    def place(self, type_, depth):
        """Of an element: the plain text, the array and the index in the shadow, and the taint of the array."""
        array = self.random.choice([name for name, element in ARRAYS.items() if element == type_])
        a, av, at = self.array(array, depth)
        i, iv, it = self.index(depth)
        iv, it = self.value("int", iv, it)
        return array, f"{a}[{i}]", av, iv, at, it

    def control(self, taint):
        self.shadow.append(f"FlowShadow.controls |= {taint};")

    def element(self, type_, depth):
        _, p, a, i, at, it = self.place(type_, depth)
        self.control(it)
        return (p, *self.value(type_, f"{a}[{i}]", f"{at} | FlowShadow.element({a}, {i})"))

    def length(self, type_, depth):
        if type_ != "int":
            return self.element(type_, depth)
        p, v, t = self.array(self.random.choice(list(ARRAYS)), depth)
        return (f"{p}.length", *self.value("int", f"{v}.length", t))

    def assignable(self, type_):
        if self.untainted is not None:
            return []
        return [name for name in self.variables(type_) if not name.startswith(("c", "i"))]

    def assignment(self, type_, depth):
        names = self.assignable(type_)
        if not names:
            return self.binary(type_, depth)
        name = self.random.choice(names)
        p, v, t = self.expression(type_, depth)
        self.shadow.append(f"{name} = {v}; {name}_t = {t};")
        return f"({name} = {p})", v, t

    def compound(self, type_, depth):
        names = self.assignable(type_)
        if not names:
            return self.binary(type_, depth)
        name = self.random.choice(names)
        before, before_t = self.value(type_, name, name + "_t")
        p, v, t = self.expression(type_, depth)
        operator = self.random.choice(["+", "-", "*"])
        v, t = self.value(type_, f"{before} {operator} {v}", f"{before_t} | {t}")
        self.shadow.append(f"{name} = {v}; {name}_t = {t};")
        return f"({name} {operator}= {p})", v, t

    def step(self, type_, depth):
        names = self.assignable(type_)
        if not names:
            return self.negation(type_, depth)
        name, step = self.random.choice(names), self.random.choice(["++", "--"])
        if self.chance(50):
            v, t = self.value(type_, name + step, name + "_t")
            return f"({name}{step})", v, t
        v, t = self.value(type_, step + name, name + "_t")
        return f"({step}{name})", v, t

    def field_assignment(self, type_, depth):
        o, ov, ot = self.node(depth)
        f = self.field_of(type_)
        if type_ in NUMBERS and self.chance(50):
            before, before_t = self.value(type_, f"{ov}.{f}", f"{ot} | {ov}.{f}_t")
            p, v, t = self.expression(type_, depth)
            v, t = self.value(type_, f"{before} + {v}", f"{before_t} | {t}")
            operator = "+="
        else:
            p, v, t = self.expression(type_, depth)
            operator = "="
        self.shadow.append(f"{ov}.{f} = {v}; {ov}.{f}_t = {t};")
        return f"({o}.{f} {operator} {p})", v, t

    def field_step(self, type_, depth):
        o, ov, ot = self.node(depth)
        f = self.field_of(type_)
        before, before_t = self.value(type_, f"{ov}.{f}", f"{ot} | {ov}.{f}_t")
        self.shadow.append(f"{ov}.{f}++; {ov}.{f}_t = {before_t};")
        if self.chance(50):
            return f"({o}.{f}++)", before, before_t
        return (f"(++{o}.{f})", *self.value(type_, f"{ov}.{f}", before_t))

    def static_assignment(self, type_, depth):
        f = next(name for name, t in STATICS.items() if t == type_)
        p, v, t = self.expression(type_, depth)
        self.shadow.append(f"{f} = {v}; {f}_t = {t};")
        return f"({f} = {p})", v, t

    def element_update(self, type_, depth):
        array, p, a, i, at, it = self.place(type_, depth)
        element = array[:-2]
        how = self.random.choice(["=", "+=", "++"])
        if how == "=":
            e, v, t = self.expression(type_, depth)
            self.control(it)
            v, t = self.value(type_, f"({element}) {v}", t)
            self.shadow.append(f"{a}[{i}] = ({element}) {v}; FlowShadow.setElement({a}, {i}, {t});")
            return f"({p} = ({element}) {e})", v, t
        self.control(it)
        before, before_t = self.value(type_, f"{a}[{i}]", f"{at} | FlowShadow.element({a}, {i})")
        if how == "++":
            self.shadow.append(f"{a}[{i}]++; FlowShadow.setElement({a}, {i}, {before_t});")
            return f"({p}++)", before, before_t
        e, v, t = self.expression(type_, depth)
        v, t = self.value(element, f"({element}) ({before} + {v})", f"{before_t} | {t}")
        self.shadow.append(f"{a}[{i}] = {v}; FlowShadow.setElement({a}, {i}, {t});")
        return f"({p} += {e})", v, t

    def choice(self, type_, depth):
        c, cv = self.condition(depth)
        v, t = self.name("v"), self.name("t")
        self.shadow.append(f"{type_} {v}; long {t}; if ({cv}) {{")
        a = self.expression(type_, depth)
        self.shadow.append(f"{v} = {a[1]}; {t} = {a[2]}; }} else {{")
        b = self.expression(type_, depth)
        self.shadow.append(f"{v} = {b[1]}; {t} = {b[2]}; }}")
        return f"({c} ? {a[0]} : {b[0]})", v, t

    # ---- calls

    def operands(self, types, depth):
        plain, shadow, taints = [], [], []
        for type_ in types:
            p, v, t = self.expression(type_, depth)
            plain.append(p)
            shadow += [v, t]
            taints.append(t)
        return ", ".join(plain), ", ".join(shadow), taints

    def call(self, type_, depth):
        methods = [m for m in self.methods if m[1] == type_]
        if not methods:
            return self.binary(type_, depth)
        name, result, types = self.random.choice(methods)
        plain, shadow, _ = self.operands(types, depth)
        v = self.value(type_, f"{name}({shadow})", "FlowShadow.ret")
        return (f"{name}({plain})", *v)

    def virtual(self, type_, depth):
        if type_ == "double":
            return self.call(type_, depth)
        o, ov, ot = self.node(depth)
        name, types = {"int": ("turn", ["int", "long"]), "long": ("size", ["int"])}[type_]
        plain, shadow, _ = self.operands(types, depth)
        receiver = f"((Sized) {o})" if type_ == "long" else o
        v = self.value(type_, f"{ov}.{name}({ot}, {shadow})", "FlowShadow.ret")
        return (f"{receiver}.{name}({plain})", *v)

    # ---- references and booleans

    def node(self, depth):
        kinds = ["variable", "variable"]
        if depth > 0:
            kinds += ["new", "derived", "next", "static", "given", "choice"]
        if self.has_this:
            kinds += ["this", "this"]
        kind = self.random.choice(kinds)
        names = self.variables("Base")
        if kind == "this":
            return ("this", *self.value("Base", "this", "this_t"))
        if kind == "variable" and names:
            name = self.random.choice(names)
            return (name, *self.value("Base", name, self.taint(name)))
        if kind == "new":
            p, v, _ = self.operands(["int", "long"], depth - 1)
            return (f"new Base({p})", *self.value("Base", f"new Base({v})", "0L"))
        if kind == "derived":
            types = ["int", "long", "double"] if self.chance(50) else ["int"]
            p, v, _ = self.operands(types, depth - 1)
            return (f"new Derived({p})", *self.value("Base", f"new Derived({v})", "0L"))
        if kind == "given":
            return self.given("Base", min(depth - 1, 1)) if depth > 1 else self.static("Base", 0)
        if kind == "choice":
            return self.choice("Base", depth - 1)
        if kind == "next":
            return self.field("Base", depth - 1)
        return self.static("Base", 0)

    def array(self, type_, depth):
        kinds = ["variable", "variable"]
        if type_ == "int[]":
            kinds += ["static"]
            if depth > 0:
                kinds += ["field"]
        if depth > 0:
            kinds += ["new", "listed", "given"]
        kind = self.random.choice(kinds)
        names = self.variables(type_)
        if kind == "variable" and names:
            name = self.random.choice(names)
            return (name, *self.value(type_, name, self.taint(name)))
        if kind == "static":
            return self.static(type_, 0)
        if kind == "field":
            return self.field(type_, depth - 1)
        if kind == "given" and names:
            k, name = self.random.randrange(1, 60), self.random.choice(names)
            t = self.taint(name)
            return (f"(({type_}) FlowTracker.give((Object) {name}, {k}))", *self.value(type_, name, f"{t} | 1L << {k}"))
        element = type_[:-2]
        if kind == "listed":
            plain, pairs = [], []
            for _ in range(4):
                p, v, t = self.expression(ARRAYS[type_], min(depth - 1, 1))
                plain.append(f"({element}) {p}")
                pairs.append((v, t))
            values = ", ".join(f"({element}) {v}" for v, t in pairs)
            a = self.value(type_, f"{{{values}}}", "0L")
            for i, (_, t) in enumerate(pairs):
                self.shadow.append(f"FlowShadow.setElement({a[0]}, {i}, {t});")
            return (f"(new {type_} {{{', '.join(plain)}}})", *a)
        p, v, t = self.expression("int", max(min(depth - 1, 1), 0))
        self.control(t)
        return (f"(new {element}[({p} & 3) + 4])", *self.value(type_, f"new {element}[({v} & 3) + 4]", "0L"))

    def truth(self, depth):
        kind = self.random.randrange(6)
        names = self.variables("boolean")
        if kind < 2 and names:
            name = self.random.choice(names)
            return (name, *self.value("boolean", name, self.taint(name)))
        if kind == 2 and depth > 0:
            a, b = self.truth(depth - 1), self.truth(depth - 1)
            operator = self.random.choice(["&", "|", "^"])
            return (f"({a[0]} {operator} {b[0]})", *self.value("boolean", f"{a[1]} {operator} {b[1]}", f"{a[2]} | {b[2]}"))
        if kind == 3:
            p, v, t = self.node(depth)
            return (f"({p} instanceof Derived)", *self.value("boolean", f"{v} instanceof Derived", t))
        if kind == 4 and depth > 0:
            return self.given("boolean", 1)
        c, v = self.condition(depth)
        return (f"({c})", *self.value("boolean", v, "0L"))

    def unfoldable(self, type_, depth):
        """Not a constant expression, which javac would evaluate."""
        p, v, t = self.expression(type_, depth)
        q, w, u = self.variable(type_, 0)
        return (f"({p} - {q})", *self.value(type_, f"{v} - {w}", f"{t} | {u}"))

    def condition(self, depth):
        """The plain text, and the name of the value in the shadow."""
        kind = self.random.randrange(9)
        if kind < 3 or depth <= 0:
            type_ = self.random.choice(NUMBERS)
            a = self.unfoldable(type_, depth - 1)
            zero = self.chance(40)
            b = self.constant(type_, 0) if zero else self.expression(type_, depth - 1)
            if zero and type_ == "int":
                b = ("0", "0", "0L")  # another instruction
            operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            self.control(f"{a[2]} | {b[2]}")
            return f"{a[0]} {operator} {b[0]}", self.value("boolean", f"{a[1]} {operator} {b[1]}", "0L")[0]
        if kind in (3, 4):
            operator = "&&" if kind == 3 else "||"
            a, av = self.condition(depth - 1)
            v = self.name("v")
            self.shadow.append(f"boolean {v} = {av}; if ({'' if kind == 3 else '!'}{v}) {{")
            b, bv = self.condition(depth - 1)
            self.shadow.append(f"{v} = {bv}; }}")
            return f"({a} {operator} {b})", v
        if kind == 5:
            c, v = self.condition(depth - 1)
            return f"!({c})", self.value("boolean", f"!{v}", "0L")[0]
        if kind == 6:
            p, v, t = self.node(depth - 1)
            self.control(t)
            return f"{p} == null", self.value("boolean", f"{v} == null", "0L")[0]
        if kind == 7:
            a, b = self.node(depth - 1), self.node(depth - 1)
            self.control(f"{a[2]} | {b[2]}")
            return f"{a[0]} != {b[0]}", self.value("boolean", f"{a[1]} != {b[1]}", "0L")[0]
        names = self.variables("boolean")
        if names:
            name = self.random.choice(names)
            v, t = self.value("boolean", name, self.taint(name))
        else:
            name = "sTruth"
            v, t = self.value("boolean", name, name + "_t")
        self.control(t)
        return name, v

    # ---- statements; each yields whether control goes on behind it

    def block(self, statements, depth):
        outer = list(self.scope)
        goes_on = True
        for _ in range(statements):
            goes_on = self.statement(depth)
            if not goes_on:
                break
        self.scope = outer
        return goes_on

    def open(self, line):
        self.both(line + " {")

    def close(self):
        self.both("}")

    def statement(self, depth):
        kinds = [self.declare] * 5 + [self.evaluate] * 5 + [self.see] * 3 + [self.see_controls]
        if depth > 0:
            kinds += [self.branch] * 2 + [self.count, self.repeat, self.repeat_at_end, self.select, self.attempt, self.attempt,
                      self.iterate, self.function, self.lock, self.text, self.matrix, self.box]
            kinds += [self.leave] * (self.result is not None)
            kinds += [self.throw] + [self.jump] * (self.loop is not None)
        return self.random.choice(kinds)(depth - 1)

    def declare(self, depth):
        type_ = self.random.choice(NUMBERS * 3 + ["boolean", "Base", "Base"] + list(ARRAYS))
        p, v, t = self.expression(type_, 2)
        name = self.name("x")
        self.plain.append(f"{type_} {name} = {p};")
        self.shadow.append(f"{type_} {name} = {v}; long {name}_t = {t};")
        self.scope.append((name, type_))
        return True

    def evaluate(self, depth):
        kind = self.random.choice([self.assignment, self.compound, self.step, self.field_assignment, self.element_update,
                                   self.static_assignment, self.field_step])
        p, _, _ = kind(self.random.choice(NUMBERS), 2)
        # Parenthesised, it is no statement; so its value goes to a variable.
        self.plain.append(f"{{ var {self.name('u')} = {p}; }}")
        return True

    def see(self, depth):
        type_ = self.random.choice(NUMBERS + ["boolean", "Base"])
        p, v, t = self.expression(type_, 1)
        self.plain.append(f"FlowTracker.seen({p});")
        self.shadow.append(f"FlowShadow.seen({v}, {t});")
        return True

    def see_controls(self, depth):
        self.plain.append("FlowTracker.controlled();")
        self.shadow.append("FlowShadow.controlled();")
        return True

    def branch(self, depth):
        c, v = self.condition(2)
        self.plain.append(f"if ({c}) {{")
        self.shadow.append(f"if ({v}) {{")
        goes_on = self.block(2, depth)
        if self.chance(50):
            self.both("} else {")
            goes_on = self.block(2, depth) or goes_on
        else:
            goes_on = True
        self.close()
        return goes_on

    def in_loop(self, statements, depth, can_continue):
        outer, self.loop = self.loop, can_continue
        goes_on = self.block(statements, depth)
        self.loop = outer
        return goes_on

    def count(self, depth):
        i, n = self.name("i"), self.name("n")
        p, v, t = self.unfoldable("int", 1)
        self.plain.append(f"int {n} = {p} & 3;")
        self.shadow.append(f"int {n} = {v} & 3; long {n}_t = {t};")
        self.plain.append(f"for (int {i} = 0; {i} < {n}; {i}++) {{")
        self.shadow.append(f"long {i}_t = 0L; for (int {i} = 0; ; {i}++) {{ FlowShadow.controls |= {i}_t | {n}_t; if (!({i} < {n})) break;")
        outer = list(self.scope)
        self.scope.append((i, "int"))
        self.in_loop(3, depth, True)
        self.scope = outer
        self.close()
        return True

    def repeat(self, depth):
        self.shadow.append("while (true) {")
        start = len(self.plain)
        c, v = self.condition(2)
        f = self.fuel_condition()
        self.plain.insert(start, f"while (FlowTracker.fuel() && ({c})) {{")
        # The shadow asks for fuel first, as the plain text does.
        self.shadow.append(f"if (!{v}) break;")
        self.in_loop(2, depth, True)
        self.close()
        return True

    def fuel_condition(self):
        """Put before what the condition has just written to the shadow."""
        at = max(i for i, line in enumerate(self.shadow) if line == "while (true) {")
        self.shadow.insert(at + 1, "if (!FlowShadow.fuel()) break;")

    def repeat_at_end(self, depth):
        self.both("do {")
        if not self.in_loop(2, depth, False):
            self.both("} while (true);")
            return False
        self.shadow.append("if (!FlowShadow.fuel()) break;")
        c, v = self.condition(2)
        self.plain.append(f"}} while (FlowTracker.fuel() && ({c}));")
        # `v` is declared inside of the loop.
        self.shadow.append(f"if (!{v}) break; }} while (true);")
        return True

    def iterate(self, depth):
        type_ = self.random.choice(list(ARRAYS))
        p, a, at = self.array(type_, 2)
        x, i, element = self.name("x"), self.name("i"), ARRAYS[type_]
        # As JLS 14.14.2 has it: the array is asked for its length once.
        self.plain.append(f"for ({element} {x} : {p}) {{")
        self.shadow.append(f"int {i}n = {a}.length; for (int {i} = 0; ; {i}++) {{ FlowShadow.controls |= {at}; if (!({i} < {i}n)) break;")
        self.shadow.append(f"{element} {x} = {a}[{i}]; long {x}_t = {at} | FlowShadow.element({a}, {i});")
        outer = list(self.scope)
        self.scope.append((x, element))
        self.in_loop(2, depth, True)
        self.scope = outer
        self.close()
        return True

    def select(self, depth):
        p, v, t = self.unfoldable("int", 2)
        labels = self.random.choice([[0, 1, 2, 3], [-9, 0, 77, 1000]])
        self.control(t)
        self.plain.append(f"switch ({p} & 1027) {{")
        self.shadow.append(f"switch ({v} & 1027) {{")
        outer, self.loop = self.loop, None
        for i, label in enumerate(labels):
            self.both(f"case {label}: {{")
            goes_on = self.block(2, depth)
            self.close()
            if goes_on and (i == 0 or self.chance(60)):
                self.both("break;")
        if self.chance(50):
            self.both("default: {")
            self.block(2, depth)
            self.close()
        self.both("case 7: break;")
        self.loop = outer
        self.close()
        return True

    def attempt(self, depth):
        self.open("try")
        goes_on = self.block(3, depth)
        catches = self.random.choice([1, 1, 2, 3])
        if catches & 1:
            e = self.name("e")
            self.both(f"}} catch ({RUNTIME} {e}) {{")
            self.shadow.append(f"long {e}_t = FlowShadow.thrown; FlowShadow.thrown = 0L;")
            if self.chance(50):
                self.plain.append(f"FlowTracker.seen({e});")
                self.shadow.append(f"FlowShadow.seen({e}, {e}_t);")
            goes_on = self.block(2, depth) or goes_on
        if catches & 2:
            e = self.name("e")
            self.both(f"}} catch (Problem {e}) {{")
            self.shadow.append(f"long {e}_t = FlowShadow.thrown; FlowShadow.thrown = 0L;")
            self.plain.append(f"FlowTracker.seen({e}.code); FlowTracker.seen({e});")
            self.shadow.append(f"FlowShadow.seen({e}.code, {e}_t | {e}.code_t); FlowShadow.seen({e}, {e}_t);")
            if self.chance(30):
                self.plain.append(f"throw {e};")
                self.shadow.append(f"FlowShadow.thrown = {e}_t; throw {e};")
            else:
                goes_on = self.block(2, depth) or goes_on
        if self.chance(40):
            s = self.name("s")
            self.both("} finally {")
            self.shadow.append(f"long {s} = FlowShadow.thrown, {s}r = FlowShadow.ret; FlowShadow.thrown = 0L;")
            outer, self.result, loop, self.loop = self.result, None, self.loop, None
            throws, self.throw = self.throw, self.see
            self.block(2, min(depth, 0))
            self.result, self.loop, self.throw = outer, loop, throws
            self.shadow.append(f"FlowShadow.thrown = {s}; FlowShadow.ret = {s}r;")
        self.close()
        return goes_on

    def throw(self, depth):
        if self.chance(60):
            return self.branch(depth)
        c, cv, ct = self.expression("int", 1)
        m, mv, mt = self.expression("double", 1)
        e, et = self.name("v"), self.name("t")
        self.shadow.append(f"Problem {e} = new Problem({cv}, {ct}, \"m\" + {mv}, {mt}); long {et} = 0L;")
        p = f"new Problem({c}, \"m\" + {m})"
        if self.chance(50):
            k = self.random.randrange(1, 60)
            p = f"(Problem) FlowTracker.give((Object) {p}, {k})"
            self.shadow.append(f"{et} |= 1L << {k};")
        self.plain.append(f"throw {p};")
        self.shadow.append(f"FlowShadow.thrown = {et}; throw {e};")
        return False

    def leave(self, depth):
        if self.chance(50):
            return self.branch(depth)
        p, v, t = self.expression(self.result, 2)
        self.plain.append(f"return {p};")
        self.shadow.append(f"FlowShadow.ret = {t}; return {v};")
        return False

    def jump(self, depth):
        c, v = self.condition(1)
        word = self.random.choice(["break", "continue"]) if self.loop else "break"
        self.plain.append(f"if ({c}) {word};")
        self.shadow.append(f"if ({v}) {word};")
        return True

    def lock(self, depth):
        self.plain.append("synchronized (FlowTracker.LOCK) {")
        self.shadow.append("{")
        goes_on = self.block(2, depth)
        self.close()
        return goes_on

    def text(self, depth):
        p, v, t = self.expression("int", 1)
        q, w, u = self.expression("double", 1)
        self.plain.append(f"FlowTracker.seen((Object) (\"a\" + (int) ({p}) + \"b\" + {q}));")
        self.shadow.append(f"FlowShadow.seen((Object) (\"a\" + {v} + \"b\" + {w}), {t} | {u});")
        return True

    def box(self, depth):
        p, v, t = self.expression("int", 2)
        b, x = self.name("b"), self.name("x")
        self.plain.append(f"Integer {b} = (int) ({p}); int {x} = {b};")
        self.shadow.append(f"int {x} = {v}; long {x}_t = {t};")
        self.scope.append((x, "int"))
        return True

    def row(self, matrix):
        """One that is read before the second index is evaluated: its index in the plain text and the row in the shadow; and that."""
        i = self.index(1)
        self.control(i[2])
        row, _ = self.value("long[]", f"{matrix}[{i[1]}]", "0L")
        j, jv, jt = self.index(1)
        return (i[0], row), (j, self.value("int", jv, jt)[0], jt)

    def matrix(self, depth):
        m = self.name("m")
        p, v, t = self.expression("int", 1)
        self.control(t)
        self.plain.append(f"long[][] {m} = new long[4][({p} & 3) + 4];")
        self.shadow.append(f"long[][] {m} = new long[4][({v} & 3) + 4];")
        a, j = self.row(m)
        e, ev, et = self.expression("long", 1)
        self.control(j[2])
        self.plain.append(f"{m}[{a[0]}][{j[0]}] = {e};")
        self.shadow.append(f"{a[1]}[{j[1]}] = {ev}; FlowShadow.setElement({a[1]}, {j[1]}, {et});")
        a, j = self.row(m)
        self.control(j[2])
        self.plain.append(f"FlowTracker.seen({m}[{a[0]}][{j[0]}]);")
        self.shadow.append(f"FlowShadow.seen({a[1]}[{j[1]}], FlowShadow.element({a[1]}, {j[1]}));")
        return True

    def function(self, depth):
        """What a lambda expression captures is passed on by code of the JDK's, which carries no taints."""
        c, q, f, x = self.name("c"), self.name("c"), self.name("f"), self.name("x")
        p, v, t = self.expression("int", 2)
        self.plain.append(f"final int {c} = {p};")
        self.shadow.append(f"final int {c} = {v}; long {c}_t = {t};")
        outer, has_this, self.has_this = self.scope, self.has_this, False
        self.scope = [(c, "int"), (q, "int")]
        self.untainted, self.captured = {c, q}, set()
        self.shadow.append(f"java.util.function.IntUnaryOperator {f} = {q} -> {{")
        body, bv, _ = self.expression("int", 3)
        self.shadow.append(f"return {bv}; }};")
        self.plain.append(f"java.util.function.IntUnaryOperator {f} = {q} -> {body};")
        captured = c in self.captured
        self.untainted, self.scope, self.has_this = None, outer, has_this
        a, av, at = self.expression("int", 1)
        self.plain.append(f"int {x} = {f}.applyAsInt({a});")
        self.shadow.append(f"int {x} = {f}.applyAsInt({av}); long {x}_t = {c + '_t' if captured else '0L'} | {at};")
        self.scope.append((x, "int"))
        return True

    # ---- the whole

    def body(self, head, types, result, names, statements, this=None):
        """A method; its parameters are `names`."""
        plain = ", ".join(f"{t} {n}" for t, n in zip(types, names))
        shadow = ", ".join(([] if this is None else [f"long {this}"]) + [f"{t} {n}, long {n}_t" for t, n in zip(types, names)])
        self.plain.append(f"{head}({plain}) {{")
        self.shadow.append(f"{head}({shadow}) {{")
        self.scope = list(zip(names, types))
        self.has_this = this is not None
        self.result, self.loop = result, None
        zero = ZERO[result]
        self.plain.append(f"if (!FlowTracker.fuel()) return {zero};")
        self.shadow.append(f"if (!FlowShadow.fuel()) {{ FlowShadow.ret = 0L; return {zero}; }}")
        if self.block(statements, 2):
            p, v, t = self.expression(result, 2)
            self.plain.append(f"return {p};")
            self.shadow.append(f"FlowShadow.ret = {t}; return {v};")
        self.close()
        self.has_this = False

    def classes(self):
        self.both("interface Sized {")
        self.plain.append("long size(int a);")
        self.shadow.append("long size(long this_t, int a, long a_t);")
        self.close()
        self.both("static class Problem extends RuntimeException {")
        self.both("int code;")
        self.shadow.append("long code_t;")
        self.plain.append("Problem(int c, String m) { super(m); code = code + c; } }")
        # The constructor of RuntimeException carries no taints: `this` gets that of its argument.
        self.shadow.append("Problem(int c, long c_t, String m, long m_t) { super(m); code = code + c; code_t = m_t | c_t; } }")
        self.both("static class Base implements Sized {")
        for name, type_ in FIELDS.items():
            self.both(f"{type_} {name};")
            self.shadow.append(f"long {name}_t;")
        self.both("Base() {}")
        self.constructor("Base", ["int", "long"], None)
        self.method_of_class(True)
        self.close()
        self.both("static class Derived extends Base {")
        self.constructor("Derived", ["int", "long", "double"], "super")
        self.constructor("Derived", ["int"], "this")
        self.method_of_class(False)
        self.close()

    def constructor(self, name, types, calls):
        names = [f"p{i}" for i in range(len(types))]
        plain = ", ".join(f"{t} {n}" for t, n in zip(types, names))
        shadow = ", ".join(f"{t} {n}, long {n}_t" for t, n in zip(types, names))
        self.plain.append(f"{name}({plain}) {{")
        self.scope = list(zip(names, types))
        self.may_call = False
        self.shadow.append(f"{name}({shadow}) {{")
        if calls is not None:
            passed = {"super": ["int", "long"], "this": ["int", "long", "double"]}[calls]
            self.plain.append(f"{calls}({', '.join(self.simple(t, names[0]) for t in passed)});")
            self.shadow.append(f"{calls}({', '.join(self.simple(t, names[0]) + ', p0_t' for t in passed)});")
        self.shadow.append("long this_t = 0L;")
        self.has_this = True
        self.result, self.loop = None, None
        for f in ("number", "big", "exact"):
            p, v, t = self.expression(FIELDS[f], 2)
            self.plain.append(f"this.{f} = {p};")
            self.shadow.append(f"this.{f} = {v}; this.{f}_t = {t};")
        if calls is None:
            p, v, t = self.array("int[]", 2)
            self.plain.append(f"this.array = {p};")
            self.shadow.append(f"this.array = {v}; this.array_t = {t};")
            self.both("this.next = sNode;")
            self.shadow.append("this.next_t = sNode_t;")
        self.has_this, self.may_call = False, True
        self.close()

    @staticmethod
    def simple(type_, name):
        return {"int": f"{name} * 2", "long": f"{name} + 3L", "double": f"{name} / 2.0"}[type_]

    def method_of_class(self, base):
        self.body("int turn", ["int", "long"], "int", ["p0", "p1"], 2, "this_t")
        self.body("public long size", ["int"], "long", ["p0"], 2 if base else 3, "this_t")

    def generate(self):
        count = self.random.randrange(2, 5)
        for i in range(count):
            types = [self.random.choice(NUMBERS + ["boolean", "Base", "int[]", "long[]"]) for _ in range(self.random.randrange(5))]
            self.methods.append((f"f{i}", self.random.choice(NUMBERS + ["boolean"]), types))
        self.plain.append(f"public class Program{self.seed} {{")
        self.shadow.append(f"public class Shadow{self.seed} {{")
        for name, type_ in STATICS.items():
            self.both(f"static {type_} {name};")
            self.shadow.append(f"static long {name}_t;")
        self.classes()
        for name, result, types in self.methods:
            self.body(f"static {result} {name}", types, result, [f"p{i}" for i in range(len(types))], 5)
        self.open("public static void run()")
        self.both("sArray = new int[5];")
        self.both("sNumber = 3; sBig = 5L; sExact = 0.5; sTruth = true;")
        self.both("sNode = new Base(); sNode.array = sArray; sNode.next = sNode;")
        for name, result, types in self.methods:
            self.open("try")
            plain, shadow, _ = self.arguments_of(types)
            self.plain.append(f"FlowTracker.seen({name}({plain}));")
            r = self.name("v")
            self.shadow.append(f"{result} {r} = {name}({shadow}); FlowShadow.seen({r}, FlowShadow.ret);")
            e = self.name("e")
            self.both(f"}} catch (RuntimeException {e}) {{")
            self.plain.append(f"FlowTracker.seen((Object) {e}); FlowTracker.seen((Object) {e}.getClass().getSimpleName());")
            self.shadow.append(f"FlowShadow.seen((Object) {e}, FlowShadow.thrown);")
            self.shadow.append(f"FlowShadow.seen((Object) {e}.getClass().getSimpleName(), FlowShadow.thrown); FlowShadow.thrown = 0L;")
            self.close()
            self.see_controls(0)
        self.close()
        self.close()

    def arguments_of(self, types):
        self.scope, self.may_call = [], False
        result = self.operands(types, 2)
        self.may_call = True
        return result


def main():
    folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for seed in range(first, last + 1):
        program = Program(seed)
        program.generate()
        for kind, lines in (("Program", program.plain), ("Shadow", program.shadow)):
            with open(os.path.join(folder, f"{kind}{seed}.java"), "w") as out:
                out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
