"""The vendor's Python module `mspti`: monitors that hand activities of the device to callbacks while a program runs.

    import steplens.mspti as mspti
    monitor = mspti.KernelMonitor()
    monitor.start(lambda kernel: print(kernel.name, kernel.end - kernel.start))
    ...
    monitor.stop()

They use the vendor's libmspti.so. Where it is not on the machine `start` warns once and returns MSPTI_ERROR_INNER.
"""

from ._constants import (MsptiActivityFlag, MsptiActivityKind, MsptiActivitySourceKind, MsptiCommunicationDataType,  # noqa: F401
                         MsptiResult)
from ._data import CommunicationData, HcclData, KernelData, MarkerData, MsptiObjectId, RangeMarkerData  # noqa: F401
from ._monitors import CommunicationMonitor, HcclMonitor, KernelMonitor, MstxMonitor  # noqa: F401
