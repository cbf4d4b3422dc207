from .core.answers import Answers as Answers
from .api.functions import (
    read_table as read_table,
    scores as scores,
    train as train,
    train_best as train_best,
    tune as tune,
)
from .control.build import joined as joined
from .core.errors import (
    AgfmcError as AgfmcError,
    AgfmcNotice as AgfmcNotice,
    AgfmcWarning as AgfmcWarning,
    CommandFailed as CommandFailed,
    ControlError as ControlError,
    DataError as DataError,
    JobsFailed as JobsFailed,
    ModelError as ModelError,
    UsageError as UsageError,
)
from .core.version import __version__ as __version__
from .data.normalisation import Normalisation as Normalisation
from .data.types import Dataset as Dataset
from .designs.design import design as design
from .experiments.search import Axis as Axis, SearchSpace as SearchSpace
from .landmarks.learner import Nystrom as Nystrom
from .learners.linear import Linear as Linear
from .learners.logistic import Logistic as Logistic
from .learners.svm import SVM as SVM
from .learners.trees import Trees as Trees
from .models.configuration import Configuration as Configuration
from .models.files import export as export, load as load, save as save
from .prediction.classifier import Classifier as Classifier, classifier_for as classifier_for
from .prediction.contributions import explain as explain
from .prediction.decoding import Decoding as Decoding
from .prediction.importance import importance as importance
