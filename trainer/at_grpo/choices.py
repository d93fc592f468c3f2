"""The closed sets of the configuration. Torch-free, so that the command line can check a configuration at once."""

from enum import StrEnum


class Grouping(StrEnum):
    """What a group compares: replies to one prompt in a tree of turns (AT-GRPO), or whole episodes."""

    TURN = "turn"
    TRAJECTORY = "trajectory"


class Filter(StrEnum):
    """Which instances are left out of the batch: none; those without a group whose rewards differ; those without a
    group whose team rewards differ, however much its local rewards do.
    """

    NONE = "none"
    REWARD = "reward"
    OUTCOME = "outcome"


class Backend(StrEnum):
    """Who generates: this process, vLLM servers, or servers of others that are asked whether they can."""

    TRANSFORMERS = "transformers"
    VLLM = "vllm"
    OPENAI = "openai"


class Weights(StrEnum):
    """What of a policy is trained: a LoRA adapter on a frozen base, or all weights."""

    LORA = "lora"
    FULL = "full"


class LossType(StrEnum):
    """TRL's losses that are plain sums over tokens; the others average inside a micro-batch, which streaming spoils."""

    DAPO = "dapo"
    CISPO = "cispo"


class ScaleRewards(StrEnum):
    """Whether advantages are divided by the group's std: the values of `advantages.Scale`, whose module needs torch."""

    GROUP = "group"
    NONE = "none"


class Scheduler(StrEnum):
    """The learning-rate schedules of transformers that need no argument beyond warm-up and the number of steps."""

    CONSTANT = "constant"
    CONSTANT_WITH_WARMUP = "constant_with_warmup"
    LINEAR = "linear"
    COSINE = "cosine"
    COSINE_WITH_RESTARTS = "cosine_with_restarts"
    POLYNOMIAL = "polynomial"
    INVERSE_SQRT = "inverse_sqrt"


class Dtype(StrEnum):
    """Number format of the base model's weights; adapters are always float32.

    float16 is none: its gradients must be scaled, and what is clipped and logged here is not.
    """

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"

    @property
    def bytes(self) -> int:
        """Size of one number."""
        return 4 if self is Dtype.FLOAT32 else 2


class Tracker(StrEnum):
    """The experiment trackers of transformers."""

    AZURE_ML = "azure_ml"
    CLEARML = "clearml"
    CODECARBON = "codecarbon"
    COMET_ML = "comet_ml"
    DAGSHUB = "dagshub"
    DVCLIVE = "dvclive"
    FLYTE = "flyte"
    KUBEFLOW = "kubeflow"
    MLFLOW = "mlflow"
    NEPTUNE = "neptune"
    SWANLAB = "swanlab"
    TENSORBOARD = "tensorboard"
    TRACKIO = "trackio"
    WANDB = "wandb"
