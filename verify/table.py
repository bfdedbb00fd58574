"""The table of all builds: a name, and the words of a command.

``@`` stands for the name of the build, which is the folder that it writes. A word ``NAME/FILE`` is what the build NAME
has written, so that build is made before. The folder ``in`` has the inputs of :mod:`verify.inputs`, and copies of the
records of the package. Folders are fixed, and all paths relative, so printed paths are the same each time.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A command line of ``tabla`` without that word, and the exit status that it must have."""

    name: str
    words: tuple[str, ...]
    status: int = 0

    def needs(self) -> set[str]:
        """Return the first folder of every path among the words; some of them are names of builds."""
        found = (re.match(r"([\w-]+)(/|$)", word) for word in self.words[1:])
        return {each[1] for each in found if each} - {self.name}


_EXAMPLES = """
examples               examples all -o @
examples-svm           examples svm -o @
examples-list          examples
logistic-4             gen examples/logistic.t --pes 4 --format q7.11 -o @
logistic-16            gen examples/logistic.t --pes 16 -o @ --json @.json
logistic-64            gen examples/logistic.t --pes 64 --format q8.16 -o @ --costs --force
linear-4               gen examples/linear.t --pes 4 --format q4.12 -o @
linear-16              gen examples/linear.t -o @ -q
linear-64              gen examples/linear.t --pes 64 --format q16.16 -o @
svm-4                  gen examples/svm.t --pes 4 --format q6.12 -o @
svm-16                 gen examples/svm.t --pes 16 --format Q8_8 -o @
svm-64                 gen examples/svm.t --pes 64 --format q4.4 -o @
recommender-4          gen examples/recommender.t --pes 4 --format q5.13 -o @
recommender-16         gen examples/recommender.t --pes 16 -o @
recommender-64         gen examples/recommender.t --pes 64 --format q8.16 -o @
backprop-4             gen examples/backprop.t --pes 4 --effort 1 -o @
backprop-16            gen examples/backprop.t --pes 16 --format q5.7 -o @
backprop-64            gen examples/backprop.t --pes 64 --format q8.16 -o @
backprop2-4            gen examples/backprop2.t --pes 4 --format q5.13 --effort 0 -o @
backprop2-16           gen examples/backprop2.t --pes 16 --effort 0 -o @
backprop2-64           gen examples/backprop2.t --pes 64 --format q8.8 --effort 0 -o @
"""

_OPTIONS = """
minibatch              gen examples/linear.t -D m=3 --pes 4 --minibatch 8 -o @
runtime-rate           gen examples/logistic.t -D m=3 --pes 2 --runtime-rate -o @
model-guard            gen examples/linear.t -D m=3 --pes 2 --format q4.4 --model-guard 6 -o @
all-of-learning        gen examples/svm.t -D m=4 --pes 4 --minibatch 4 --runtime-rate --model-guard 3 -o @
learning-rate          gen examples/linear.t -D m=3 --pes 1 --learning-rate 0.3 -o @
result                 gen examples/logistic.t -D m=3 --pes 2 --result e --result h -o @
stream-words           gen examples/linear.t --pes 8 --stream-words 4 --result h -o @
memories               gen examples/linear.t -D m=4 --pes 2 --model-words 32 --data-words 64 --interim-words 8 -o @
saturate               gen examples/linear.t -D m=3 --pes 2 --format q2.6 --saturate -o @
latency                gen examples/backprop.t -D m=4 -D hidden=3 --pes 4 --objective latency -o @
sequencers             gen examples/backprop.t -D m=4 -D hidden=4 --pes 8 --pes-per-pu 4 --sequencers 2 -o @
effort-3               gen examples/logistic.t -D m=5 --pes 4 --effort 3 -o @
pes-128                gen examples/linear.t --pes 128 --effort 0 -o @
template               gen examples/linear.t -D m=3 --template Pe2 -o @
own-template           gen examples/linear.t -D m=3 --templates in/own.td --template Mine -o @
auto-format            gen in/classes.t --pes 2 --format auto8 --data in/kinds.npz --split 0.2 --epochs 2 -o @
variables              gen in/variables.t -D n=3 --pes 2 -o @
functions              gen in/functions.t --pes 4 --format q8.8 -o @
constants              gen in/constants.t --pes 2 -o @
ordinals               gen in/ordinals.t --pes 3 --pes-per-pu 3 -o @
classes                gen in/classes.t --pes 4 -o @
infer                  gen in/infer.t --pes 2 --force -o @
bus-32                 gen examples/linear.t -D m=4 --pes 2 --format q4.4 --bus axi -o @
bus-64                 gen examples/linear.t --pes 4 --format q6.12 --result h --bus axi --bus-width 64 -o @
bus-512                gen in/classes.t --pes 4 --stream-words 4 --minibatch 2 --model-guard 2 --bus axi
                         --bus-width 512 -o @
bus-of-kernel          gen in/products.tc:mm --inputs in/products.npz --keep B --pes 2 --bus axi --bus-width 128 -o @
"""

_NOTATIONS = """
sobel                  gen in/sobel.tc --size H=5 --size W=4 --pes 4 -o @
products               gen in/products.tc --size M=3 --size K=4 --size N=2 --pes 4 --result twice -o @
lookup                 gen in/lookup.tc --inputs in/lookup.npz --keep table --pes 4 -o @
extremes               gen in/extremes.tc --inputs in/extremes.npz --pes 4 --format q8.16 -o @
conv-kernel            gen in/conv.tc --size C=2 --size H=5 --size W=4 --size O=2 --size KH=2 --size KW=2 --keep F
                         --pes 8 -o @
tile-dense             gen in/layers.py:dense --shape X=4 --shape W=3,4 --keep W --pes 4 -o @
tile-softmax           gen in/layers.py:softmax --shape I=5 --pes 2 --format q8.16 -o @
tile-strided           gen in/layers.py:strided --shape I=7,2 --shape K=2,2 --arg stride=2 --pes 4 -o @
tile-learn             gen in/layers.py:learn --shape X=4 --shape Y=2 --shape W1=3,4 --shape W2=2,3
                         --learning-rate 0.125 --pes 4 -o @
onnx-mlp               gen in/mlp.onnx --pes 4 --format q4.12 -o @
onnx-conv              gen in/conv.onnx --pes 4 --effort 1 -o @
onnx-grouped           gen in/grouped.onnx --pes 8 --format q8.8 -o @
onnx-softmax           gen in/softmax.onnx --pes 2 --format q8.16 -o @
onnx-bus               gen in/mlp.onnx --pes 2 --effort 0 --bus axi -o @
onnx-learns            gen in/mlp.onnx --train w2,b2 --loss cross-entropy --learning-rate 0.125 --minibatch 2 --pes 4
                         -o @
onnx-freezes           gen in/mlp.onnx --freeze w1 --loss mse --learning-rate 0.125 --pes 2 --effort 0 -o @
"""

_OVERLAYS = """
overlay                overlay --pes 4 --model-words 64 --data-words 64 --interim-words 16 --functions sigmoid,tanh
                         -o @ --json @.json
overlay-least          overlay --pes 2 --for examples/logistic.t --for in/classes.t --format q7.11 -o @
overlay-bus            overlay --pes 2 --for examples/linear.t --features comparisons --shifts 0,5,7 --bus axi
                         --bus-width 64 -o @
overlay-learning       overlay --pes 1 --template LearningOverlay --levels 3 --body 2 --strands 16 --functions sigmoid
                         -q -o @
load-logistic          load examples/logistic.t --onto overlay -o @/logistic.image --json @.json
load-linear            load examples/linear.t --onto overlay-bus -o @/linear.image
load-classes           load in/classes.t --onto overlay-least -o @/classes.image -q
gen-onto               gen examples/linear.t --onto overlay -o @
gen-onto-bus           gen examples/linear.t -D m=5 --onto overlay-bus -o @
sim-onto               sim examples/linear.t --onto overlay --inputs examples/diabetes.npz --seed 0 --samples 20
                         -o @/s.npz
train-onto             train in/classes.t --onto overlay-least --data in/kinds.npz --epochs 2 --engine model -o @/w.npz
bound-onto             bound examples/logistic.t --onto overlay
load-too-large         load examples/logistic.t -D m=300 --onto overlay -o @/logistic.image ! 1
load-without-place     load examples/linear.t -D mu=0.25 --onto overlay-bus -o @/linear.image ! 1
synth-onto             synth examples/linear.t --onto overlay --target ecp5 ! 1
"""

_EMITTED = """
emit-ast               gen examples/recommender.t -D films=9 --pes 4 --emit ast
emit-graph             gen examples/recommender.t -D films=9 --pes 4 --emit graph
emit-mapping           gen examples/recommender.t -D films=9 --pes 4 --emit mapping
emit-schedule          gen examples/recommender.t -D films=9 --pes 4 --emit schedule
emit-program           gen examples/recommender.t -D films=9 --pes 4 --emit program
emit-ast-kernel        gen in/products.tc --size M=3 --size K=4 --size N=2 --emit ast
emit-graph-kernel      gen in/extremes.tc --inputs in/extremes.npz --emit graph
emit-ast-tile          gen in/layers.py:strided --shape I=7,2 --shape K=2,2 --arg stride=2 --emit ast
emit-graph-tile        gen in/layers.py:learn --shape X=4 --shape Y=2 --shape W1=3,4 --shape W2=2,3
                         --learning-rate 0.125 --emit graph
emit-ast-onnx          gen in/conv.onnx --emit ast
emit-program-onnx      gen in/mlp.onnx --emit program --pes 4
check-logistic         check examples/logistic.t
check-json             check in/functions.t --json -
check-tile             check in/layers.py:dense --shape X=4 --shape W=3,4
check-onnx             check in/mlp.onnx --pes 8
check-kernel           check in/lookup.tc --inputs in/lookup.npz
bound-logistic         bound examples/logistic.t --pes 64
bound-backprop         bound examples/backprop.t --pes 16 --json -
bound-kernel           bound in/conv.tc --size C=2 --size H=5 --size W=4 --size O=2 --size KH=2 --size KW=2
bound-onnx             bound in/mlp.onnx --pes 2
ranges                 ranges in/products.tc
ranges-of-sizes        ranges in/conv.tc:conv --size C=2 --size H=5 --size W=4 --size O=2 --size KH=2 --size KW=2
preprocess             preprocess in/variables.t -D n=7
preprocess-values      preprocess in/products.tc --values
preprocess-file        preprocess in/products.tc -o @/expanded.tc
tblgen                 tblgen in/records.td
tblgen-json            tblgen in/records.td --dump-json -o @/records.json -d @/records.d
tblgen-machine         tblgen in/machine.td
tblgen-machine-json    tblgen in/machine.td --dump-json -o @/records.json -d @/records.d
tblgen-bus             tblgen in/bus.td
tblgen-targets         tblgen in/targets.td
templates              templates
templates-own          templates --templates in/own.td --json -
targets                targets
targets-json           targets --templates in/own.td --json @.json
boards                 boards
boards-json            boards --templates in/own.td --json -
version                --version
"""

_COMPUTED = """
eval-logistic          eval examples/logistic.t --inputs examples/breast_cancer.npz --seed 0 --format q7.11 -o @/e.npz
eval-float             eval examples/backprop.t --inputs examples/wine.npz --seed 1 --float -o @/e.npz
eval-devices           eval examples/linear.t --inputs examples/diabetes.npz --seed 2 --samples 64 --minibatch 8
                         --devices 2 -o @/e.npz
eval-functions         eval in/functions.t --inputs in/functions.npz --format q8.16 -o @/e.npz
eval-domain            eval in/functions.t --inputs in/domain.npz --strict -o @/e.npz ! 1
eval-infer             eval in/infer.t --inputs in/infer.npz --weights in/weights.npz --saturate -o @/e.npz
eval-kernel            eval in/extremes.tc --inputs in/extremes.npz -o @/e.npz
eval-tile              eval in/layers.py:dense --shape X=4 --shape W=3,4 --inputs in/layers.npz --keep W -o @/e.npz
eval-onnx              eval in/conv.onnx --inputs in/conv.npz --float -o @/e.npz
sim-logistic           sim examples/logistic.t --inputs examples/breast_cancer.npz --seed 0 --engine model -o @/s.npz
                         --json @.json
sim-recommender        sim examples/recommender.t --inputs examples/ratings.npz --seed 0 --engine model --pes 8
                         -o @/s.npz
sim-functions          sim in/functions.t --inputs in/functions.npz --format q8.8 --engine model -o @/s.npz
sim-domain             sim in/functions.t --inputs in/domain.npz --engine model --strict -o @/s.npz ! 1
sim-ordinals           sim in/ordinals.t --inputs in/ordinals.npz --engine model -o @/s.npz
sim-auto               sim in/classes.t --inputs in/kinds.npz --seed 0 --format auto12 --engine model -o @/s.npz
sim-kernel             sim in/products.tc --inputs in/products.npz --keep B --engine model -o @/s.npz
sim-lookup             sim in/lookup.tc --inputs in/lookup.npz --engine model -o @/s.npz
sim-tile               sim in/layers.py:dense --shape X=4 --shape W=3,4 --inputs in/layers.npz --keep W --engine model
                         -o @/s.npz
sim-onnx               sim in/grouped.onnx --inputs in/grouped.npz --engine model -o @/s.npz
sim-softmax            sim in/softmax.onnx --inputs in/softmax.npz --format q8.16 --engine model -o @/s.npz
"""

_LEARNT = """
train-logistic         train examples/logistic.t --data examples/breast_cancer.npz --split 0.2 --epochs 2
                         --engine model -o @/w.npz --json @.json
train-evaluation       train in/classes.t --data in/kinds.npz --epochs 3 --pes 2 -o @/w.npz
train-recommender      train examples/recommender.t --data examples/ratings.npz --test examples/ratings_test.npz
                         --format q5.13 --epochs 3 --engine model -o @/w.npz -q
train-guard            train examples/linear.t --data examples/diabetes.npz --split 0.2,0.1 --patience 1 --format q4.4
                         --model-guard 6 --epochs 3 --engine model -o @/w.npz
train-rate             train examples/svm.t --data examples/breast_cancer_signs.npz --minibatch 4 --runtime-rate
                         --learning-rate 0.0625 --samples 200 --epochs 2 --engine model -o @/w.npz
train-table            train in/classes.t --data in/table.csv --columns "x=length,width (cm),height" y=kind
                         --classes y --standardise --split 0.2,0.1 --shuffle 3 --epochs 3 --engine model -o @/w.npz
                         --json @.json
train-auto             train in/classes.t --data in/table.csv --columns "x=length,width (cm),height" y=kind
                         --classes y --standardise --split 0.2 --format auto8 --epochs 3 --engine model -o @/w.npz
train-devices          train in/classes.t --data in/kinds.npz --minibatch 8 --devices 2 --scaling --pes 2 --epochs 2
                         --engine model -o @/w.npz
train-tile             train in/layers.py:learn --data in/learn.npz --shape X=4 --shape Y=2 --shape W1=3,4
                         --shape W2=2,3 --learning-rate 0.125 --seed 4 --epochs 2 --engine model -o @/w.npz
train-onnx             train in/mlp.onnx --train w2,b2 --loss cross-entropy --learning-rate 0.125 --data in/mlp.npz
                         --epochs 2 --format q4.12 --pes 4 --engine model -o @/w.npz
train-strict           train examples/linear.t --data examples/diabetes.npz --format q6.2 --samples 20 --epochs 1
                         --engine model --strict -o @/w.npz ! 1
test-logistic          test examples/logistic.t --weights train-logistic/w.npz --data examples/breast_cancer.npz
                         --json @.json
test-model             test in/classes.t --weights train-table/w.npz --data in/table.csv
                         --columns "x=length,width (cm),height" y=kind --classes y --engine model
test-onnx              test in/mlp.onnx --weights train-onnx/w.npz --data in/mlp.npz
gen-learnt             gen in/classes.t --format auto10 --data in/kinds.npz --weights train-evaluation/w.npz --pes 2
                         -o @
formats                formats in/classes.t --data in/kinds.npz --split 0.2,0.2 --widths 8,9 --guards 0,4 --epochs 2
                         --json @.json
explore                explore in/classes.t --pes 2,4 --format q6.10,q4.4 --minibatch 1,2 --workers 1 -o @
explore-learns         explore in/classes.t --pes 2 --format q6.10,auto8 --data in/kinds.npz --epochs 2 --workers 1
                         --part LFE5U-25F:8 --json @.json
"""

_FAULTS = """
fault-syntax           gen in/syntax.t -o @ ! 1
fault-misspelt         check in/misspelt.t ! 1
fault-bounds           check in/bounds.t ! 1
fault-habits           check in/habits.t ! 1
fault-too-large        gen in/too_large.t -o @ ! 1
fault-tiny-rate        gen in/tiny_rate.t -o @ ! 1
fault-rate-in-json     check in/tiny_rate.t --json - ! 1
fault-kernel           check in/syntax.tc --size N=3 ! 1
fault-variables        check in/variables.tc --size N=3 ! 1
fault-size             gen in/products.tc --size M=3 -o @ ! 1
fault-position         sim in/lookup.tc --inputs in/outside.npz -o @/s.npz ! 1
fault-tile             gen in/layers.py:wrong --shape X=3 -o @ ! 1
fault-tile-name        gen in/layers.py:dens --shape X=3 -o @ ! 1
fault-onnx             check in/unknown.onnx ! 1
fault-onnx-data        eval in/mlp.onnx --inputs in/three.npz -o @/e.npz ! 1
fault-file             gen in/missing.t -o @ ! 1
fault-suffix           gen in/own.td -o @ ! 1
fault-data             train examples/logistic.t --data examples/wine.npz ! 1
fault-kernel-learns    train in/sobel.tc --data in/images.npz ! 1
fault-format           gen examples/linear.t --format q0.99 -o @ ! 1
fault-result           gen examples/linear.t --result nothing -o @ ! 1
fault-memory           gen examples/recommender.t --model-words 2 -o @ ! 1
fault-template         gen examples/linear.t --template Pe17 -o @ ! 1
fault-weights          test in/classes.t --weights train-logistic/w.npz --data in/kinds.npz ! 1
fault-validation       formats examples/logistic.t --data examples/breast_cancer.npz ! 1
fault-option           gen examples/linear.t --bus-width 48 ! 2
fault-command          generate examples/linear.t ! 2
fault-target           synth examples/linear.t --target nothing ! 1
fault-board            build examples/linear.t --board nothing -o @ ! 1
fault-clock            build examples/linear.t -D m=3 --pes 1 --format q2.6 --board icebreaker --clock 50 -o @ ! 1
fault-tblgen           tblgen in/records_wrong.td ! 1
fault-preset           templates --templates in/records_wrong.td ! 1
fault-example          examples logistics ! 1
"""

_COMMANDS = (
    "gen check bound eval sim train test formats explore overlay load synth build ranges preprocess tblgen templates "
    "targets boards examples doctor"
)
_HELP = "\n".join(["help --help", *(f"help-{command} {command} --help" for command in _COMMANDS.split())])


def _builds(table: str) -> tuple[Build, ...]:
    """Return the builds of a table whose lines are a name, the words of a command, and ``! 1`` if it must fail so.

    A line that begins with a blank continues the one before.
    """
    made = []
    for line in re.sub(r"\n +", " ", table).split("\n"):
        if not line:
            continue
        name, command = line.split(maxsplit=1)
        command, _, status = command.partition(" ! ")
        words = tuple(word.replace("@", name) for word in shlex.split(command))
        made.append(Build(name=name, words=words, status=int(status or 0)))
    return tuple(made)


BUILDS = _builds("".join((_EXAMPLES, _OPTIONS, _NOTATIONS, _OVERLAYS, _EMITTED, _COMPUTED, _LEARNT, _FAULTS, _HELP)))
