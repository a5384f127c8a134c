# SPDX-License-Identifier: BSD-3-Clause
"""The table of causes: how torch says it, what the statement is that it says it of, and what to write instead.

The first row that fits counts. `says` is searched in "class name: text" of torch's error, `at` in the statement of the
user's code; both may be empty. A title may hold what a group of `says` found: {named}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from executorch.exir.capture.diagnostics import mends
from executorch.exir.capture.diagnostics.statements import Code, Statement

# Where the line is that a cause is about.
TRACED, INPUT, OUTPUT, GUARD = "traced", "input", "output", "guard"


@dataclass(frozen=True)
class Cause:
    """`of_model`: the model fails by itself, too, on these inputs. `mend`: code of the statement; others are made
    of the inputs (exporting.py) and named in `code_of`."""

    name: str
    says: str
    title: str
    advice: str
    at: str = ""
    mend: Callable[[Statement], Code | None] | None = None
    where: str = TRACED
    of_model: bool = False
    code_of: str = ""


_DATA = r"GuardOnDataDependent|[Dd]ata-dependent (expression|branching)|DataDependentOutput|Data dependent operator"
_SIZES = r"numel\(|\.shape|\.size\(|len\("
_BRANCH = (
    "A program has one graph for all inputs: torch.where computes both sides and takes one by element, torch.cond "
    "computes one of two functions. A branch for other things than values of tensors belongs into __init__()."
)
_SIZE_OF_DATA = (
    "How many elements are chosen is known only when the program runs: promise what always holds with torch._check, or "
    "keep the size and mask values (torch.where) instead of choosing them."
)
_REGISTER = (
    "torch takes apart tuples, lists, dicts and classes that were registered; registered or not, the program has flat "
    "inputs and outputs."
)

CAUSES = (
    Cause(
        "batch norm in train mode",
        r"more than 1 value per channel when training",
        "the model is in train mode: batch norm has no statistics of one value",
        "Call model.eval() before the export.",
        of_model=True,
    ),
    Cause(
        "view",
        r"[Vv]iew size is not compatible|Cannot view a tensor",
        "view() of a tensor whose memory is in another order",
        "reshape() copies where that is needed.",
        mend=mends.reshaped,
        of_model=True,
    ),
    Cause(
        "operator that gives its input",
        r"may not alias any inputs",
        "a custom operator gives one of its inputs, or a view of it",
        "Give a copy, x.clone(), or say in mutates_args that it writes into its input and give nothing.",
        of_model=True,
    ),
    Cause(
        "arguments",
        r"missing a required (\w+-only )?argument|missing \d+ required|too many positional|unexpected keyword",
        "the example inputs do not fit forward()",
        "Give one value for each argument without a default, in its order, as a tuple.",
        where=INPUT,
        of_model=True,
    ),
    Cause(
        "example of size one",
        r"specialized it to be a constant \((?P<size>[01])\)",
        "a dynamic dimension is {named} in the example inputs",
        "torch takes sizes 0 and 1 as fixed: export with an example of 2 or more there.",
        where=INPUT,
    ),
    Cause(
        "fixed size",
        r"specialized it to be a constant \((?P<size>\d+)\)",
        "the model fixes a dimension that is to be dynamic, at {named}",
        "Take the size from the tensor (x.shape[0]) where this line has a number, or a loop or layer that is made for "
        "one size; or leave the dimension fixed.",
        where=GUARD,
        code_of="shapes",
    ),
    Cause(
        "equal sizes",
        r"must always be equal",
        "two dynamic dimensions must be equal",
        "Give both the same Dim.",
        where=GUARD,
        code_of="shapes",
    ),
    Cause(
        "range of a size",
        r"Constraints violated|ConstraintViolation",
        "the model takes fewer sizes than dynamic_shapes says",
        "This line is right for some sizes only: give the range that it takes, or write it for all.",
        where=GUARD,
        code_of="shapes",
    ),
    Cause(
        "dynamic_shapes",
        r"`dynamic_shapes`|list assignment index out of range",
        "dynamic_shapes does not fit the inputs",
        "It has the structure of the inputs: for each tensor None or a dict of dimension to Dim, by the names of "
        "forward's arguments or in their order.",
        where=INPUT,
    ),
    Cause(
        "cache",
        r"<class 'transformers\.\S+?\.(?P<type>\w*Cache)'>|VariableTracker\((?P<other>\w*Cache)\)",
        "a cache of transformers that does not flatten: {named}",
        "Export with use_cache=False, or with transformers' TorchExportableModuleWithStaticCache, which keeps the "
        "cache in the model's buffers.",
        where=INPUT,
    ),
    Cause(
        "NumPy array as input",
        r"nput(s with)? type `?<class 'numpy",
        "an input is an array of NumPy",
        "Export with torch.from_numpy(array), and without the conversion in forward(); the program takes arrays.",
        where=INPUT,
    ),
    Cause(
        "class as input",
        r"Unsupported input type <class '(?P<type>[^']+)'>|inputs with type `<class '(?P<other>[^']+)'>`",
        "an input is of a class that torch does not take apart: {named}",
        f"Give its tensors as arguments, or register the class. {_REGISTER}",
        where=INPUT,
        code_of="class",
    ),
    Cause(
        "set or generator as output",
        r"Found <class '(?P<type>set|generator)'> in output|(?P<other>Set|Generator)\w*Variable\(\) at output"
        r"|(?P<third>Generator) reconstruction",
        "forward() returns a set or a generator",
        "Return a tuple: outputs have an order.",
        where=OUTPUT,
        mend=mends.as_tuple,
    ),
    Cause(
        "class as output",
        r"Found <class '(?P<type>[^']+)'> in output|unrecognized type \w+\((?P<other>\w+)\) at output",
        "forward() returns a class that torch does not take apart: {named}",
        f"Return a tuple or a dict of its tensors, or register the class. {_REGISTER}",
        where=OUTPUT,
        code_of="class",
    ),
    Cause(
        "quantized tensor",
        r"quantized nyi in meta tensors|UnsupportedFakeTensorException",
        "a tensor of torch's old quantized types",
        "Export the float model and quantize it for the program (`--quantize`), or give "
        "x.dequantize().",
        where=INPUT,
    ),
    Cause(
        "custom operator",
        r"no fake impl registered for <CustomOpDef\((?P<op>[\w:]+)\)>|(?:unsupported operator: |"
        r"UnsupportedOperatorException: )(?P<other>(?!aten\.)\w+\.\w+)",
        "the custom operator {named} does not say what sizes it gives",
        "Register a function that makes empty tensors of its outputs' sizes and types.",
        code_of="operator",
    ),
    Cause(
        "operator without form",
        r"(?:unsupported operator: |UnsupportedOperatorException: )(?P<op>aten\.\w+)",
        "the operator {named} cannot be exported",
        "Write it with others: padded tensors and a mask instead of nested ones, dense ones instead of sparse.",
    ),
    Cause(
        "text of a tensor",
        r"",
        "forward() prints or logs",
        "A program prints nothing: leave it to Python.",
        at=r"^(print|warnings\.warn)\(|^[\w.()\"']*log\w*[\w.()\"']*\.(debug|info|warning|error)\(",
        mend=mends.only_eager,
    ),
    Cause(
        "check of values",
        _DATA,
        "an assertion reads a tensor",
        "The program needs no check: leave it to Python.",
        at=r"^assert\b",
        mend=mends.only_eager,
    ),
    Cause(
        "check of values",
        _DATA,
        "a check that raises reads a tensor",
        "The program needs no check: leave it to Python.",
        at=r"^if\b[^\n]*:\s*\n?\s*raise\b[^\n]*$",
        mend=mends.only_eager,
    ),
    Cause(
        "size from data",
        _DATA,
        "a loop goes on while some elements are left",
        _SIZE_OF_DATA,
        at=rf"^while\b[^\n]*({_SIZES})",
    ),
    Cause(
        "loop on data",
        _DATA,
        "a loop goes on while a value of a tensor says so",
        "torch.while_loop stays a loop in the program; its tensors keep their sizes.",
        at=r"^while\b",
        mend=mends.loop,
    ),
    Cause(
        "size from data",
        _DATA,
        "a branch depends on how many elements were chosen",
        _SIZE_OF_DATA,
        at=rf"^(el)?if\b[^\n]*({_SIZES})",
        mend=mends.never,
    ),
    Cause(
        "branch on a number from data",
        r"data-dependent expression (?!Eq\(u\d+, 1\))",
        "a branch depends on a number that was read out of a tensor",
        f"Compare the tensor itself, and not what item(), int() or len() made of it. {_BRANCH}",
        at=r"^(el)?if\b|\bif\b.*\belse\b",
    ),
    Cause(
        "branch on data",
        _DATA,
        "a branch depends on the value of a tensor",
        _BRANCH,
        at=r"^(el)?if\b|\bif\b.*\belse\b",
        mend=mends.branch,
    ),
    Cause(
        "random number",
        rf"{_DATA}|marked as skipped",
        "Python or NumPy draws a number in forward()",
        "torch.rand draws in the program, at each call; a number that stays belongs into __init__().",
        at=r"\brandom\.\w+\(",
        mend=mends.of_torch,
    ),
    Cause(
        "math of a tensor",
        _DATA,
        "a function of Python computes with a tensor's value",
        "torch has the same function for tensors.",
        at=r"\bmath\.\w+\(",
        mend=mends.of_torch,
    ),
    Cause(
        "count from data",
        rf"{_DATA}|Tensor\.tolist\(\)",
        "a number that is read out of a tensor decides how often, where or how much",
        "A loop, an index of a list and a layer need numbers at export: compute with tensors instead (arange and a "
        "mask, torch.index_select, stacked weights), or give the number as an argument of the export.",
        at=r"\brange\(|\btolist\(|\bfor\b|\[[^\]]*\.item\(\)",
    ),
    Cause(
        "number from data",
        _DATA,
        "a number is read out of a tensor: int(x) fixes it",
        "x.item() stays a number of the program; say its range with torch._check where it is a size.",
        at=r"\b(int|float|bool)\(|\.item\(",
        mend=mends.number,
    ),
    Cause(
        "data decides",
        _DATA,
        "the graph depends on the value of a tensor",
        f"{_SIZE_OF_DATA} {_BRANCH}",
    ),
    Cause(
        "NumPy",
        r"\.numpy\(\) is not supported|numpy",
        "NumPy computes in forward()",
        "torch has the same functions, and a program is made of those.",
        at=r"np\.|numpy",
        mend=mends.without_numpy,
    ),
    Cause(
        "text of a tensor",
        r"__format__|unsupported format string",
        "forward() writes a tensor's value into a text",
        "A program prints nothing: leave it to Python.",
        mend=mends.only_eager,
    ),
    Cause(
        "copy",
        r"data pointer|copy\.deepcopy",
        "forward() copies a tensor's memory by Python",
        "clone() is the operator for it.",
        at=r"\b(deep)?copy\(",
        mend=mends.copies,
    ),
    Cause(
        "memory of a tensor",
        r"data pointer|data_ptr",
        "forward() asks for the address of a tensor",
        "Tensors have none while they are traced: call a custom operator (`executorch new-operator`) for what works "
        "on memory.",
        at=r"data_ptr|ctypes|from_address",
    ),
    Cause(
        "packed sequence",
        r"pack_padded_sequence|failed to unpack the object",
        "a packed sequence, whose sizes are values of a tensor",
        "Run the layer on padded inputs and mask the outputs behind each length.",
    ),
    Cause(
        "tensor of tensors",
        r"data is not allocated yet",
        "torch.tensor() reads the tensors that it is given",
        "torch.stack() makes one of several.",
        at=r"torch\.(Float)?[tT]ensor\(",
        mend=mends.stacked,
    ),
    Cause(
        "TorchScript",
        r"torch\.jit|ScriptModule",
        "a part of the model is TorchScript",
        "Export the module that it was made of; torch.jit.script and torch.jit.trace give nothing to export.",
    ),
    Cause(
        "gradient",
        r"torch\.autograd\.grad|does not require grad|trace_autograd_ops",
        "forward() computes a gradient",
        "Programs are exported without gradients: write the derivative out, or use torch.func.grad.",
    ),
    Cause(
        "function of Python",
        r"marked as skipped",
        "a function of Python or C++ is called that is not traced",
        "Compute it before forward() and give it as an argument, or use torch's.",
        mend=mends.of_torch,
    ),
    Cause(
        "parameter in forward",
        r"torch\.nn\.Parameter\(\)",
        "forward() makes a layer or a parameter",
        "Make it in __init__(): weights that are made at each call are not those of a trained model.",
    ),
    Cause(
        "data attribute",
        r"fake tensor in the exported program constant",
        "forward() writes through .data, which is not traced",
        "Write to the tensor itself, or torch.where, index_put and copy_ of it.",
        where=OUTPUT,
    ),
    Cause(
        "random generator",
        r"[Oo]paque object",
        "forward() makes a random generator",
        "A program draws with the generator of its runtime: leave it out, or give the numbers as an input.",
    ),
    Cause(
        "checkpoint",
        r"",
        "a layer is computed by torch.utils.checkpoint",
        "That saves memory while a model is trained: call the layer itself.",
        at=r"\bcheckpoint\(",
    ),
    Cause(
        "tensor subclass",
        r"Tensor subclass",
        "forward() makes a tensor of a class of its own",
        "Give and return plain tensors: x.as_subclass(torch.Tensor).",
    ),
)
OTHER = Cause(
    "other",
    "",
    "torch.export does not take it",
    "Take the line out of forward(), or write it with operators of torch.",
)
FAILS = Cause(
    "the model fails",
    "",
    "the model itself fails on the example inputs",
    "Call model(*inputs) in PyTorch: it ends with this error there.",
    of_model=True,
)
TRAINING = Cause(
    "train mode",
    "",
    "the model is in train mode",
    "Dropout draws, batch norm counts, and code for training is traced: programs are of models that are trained.",
)
